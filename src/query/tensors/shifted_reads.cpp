#include "query/tensors/shifted_reads.h"

#include <algorithm>
#include <set>

#include "kernel/form/compiled_form.h"
#include "query/tensors/neighbours.h"
#include "query/tensors/place.h"

namespace tessera::query {
namespace {

using calculus::Definition;

class ShiftsApart {
 public:
  ShiftsApart(const Definition& definition, const TypedForm& form,
              const std::vector<Tensor>& arguments,
              const std::function<calculus::Array(const Tensor&)>& given)
      : form_(form), arguments_(arguments), given_(given), made_(definition) {
    made_.form.value = visited(definition.form.value);
    for (std::size_t i = 0; i < form.extents.size(); ++i) {
      made_.form.indices[i].extent = form.extents[i];
      made_.form.indices[i].like = std::nullopt;
    }
  }

  bool has_any() const { return !known_.empty(); }
  Definition take() && { return std::move(made_); }

 private:
  struct Known {
    int argument;
    std::vector<Place> places;
    int number;
  };

  Term visited(const Term& term) {
    std::vector<Term> parts;
    for (const Term& part : parts_of(term)) parts.push_back(visited(part));
    if (const auto* read = as<term::Element>(term))
      if (const auto places = shifts_of(*read)) return moved(read->argument, *places);
    return parts.empty() ? term : with_parts(term, parts);
  }

  /// An index and a constant in each dimension, and somewhere more than the index alone.
  std::optional<std::vector<Place>> shifts_of(const term::Element& read) const {
    const Tensor& tensor = arguments_[static_cast<std::size_t>(read.argument)];
    if (tensor.plan.type().presence != Presence::continuous) return std::nullopt;
    std::vector<Place> places;
    std::set<int> indices;
    bool moves = false;
    for (int d = 0; d < tensor.type.rank(); ++d) {
      const auto place = place_of(read.at[static_cast<std::size_t>(d)]);
      if (!place || place->index < 0 || place->step != 1 || !indices.insert(place->index).second)
        return std::nullopt;
      const std::int64_t extent = form_.extents[static_cast<std::size_t>(place->index)];
      if (extent > tensor.type.shape[d] || extent == 0) return std::nullopt;
      const bool plain = as<term::Position>(read.at[static_cast<std::size_t>(d)]) != nullptr &&
                         extent == tensor.type.shape[d];
      moves = moves || (!plain && tensor.type.tiles(d) > 1);
      places.push_back(*place);
    }
    return moves ? std::optional(places) : std::nullopt;
  }

  Term moved(int argument, const std::vector<Place>& places) {
    std::vector<int> at;
    for (const Place& place : places) at.push_back(place.index);
    for (const Known& known : known_)
      if (known.argument == argument && known.places == places) return element_at(known.number, at);
    Tensor tensor = arguments_[static_cast<std::size_t>(argument)];
    bool is_itself = true;
    for (std::size_t d = 0; d < places.size(); ++d) {
      const std::int64_t extent = form_.extents[static_cast<std::size_t>(places[d].index)];
      const int dimension = static_cast<int>(d);
      if (places[d].first == 0 && extent == tensor.type.shape[dimension]) continue;
      tensor = query::moved(tensor, dimension, places[d].first, extent);
      is_itself = false;
    }
    if (!is_itself) made_.arguments.push_back(given_(tensor));
    known_.push_back(
        {argument, places, is_itself ? argument : static_cast<int>(made_.arguments.size()) - 1});
    return element_at(known_.back().number, at);
  }

  const TypedForm& form_;
  const std::vector<Tensor>& arguments_;
  const std::function<calculus::Array(const Tensor&)>& given_;
  Definition made_;
  std::vector<Known> known_;
};

}  // namespace

std::optional<Definition> with_shifts_apart(
    const Definition& definition, const TypedForm& form, const std::vector<Tensor>& arguments,
    const std::function<calculus::Array(const Tensor&)>& given) {
  if (!reads_inside(form)) return std::nullopt;
  ShiftsApart shifts(definition, form, arguments, given);
  return shifts.has_any() ? std::optional(std::move(shifts).take()) : std::nullopt;
}

}  // namespace tessera::query
