#include "calculus/stages.h"

#include <algorithm>

namespace tessera::calculus {
namespace {

class Separation {
 public:
  Separation(const Definition& from, const std::function<bool(const term::Fold&)>& apart)
      : from_(from), apart_(apart), result_(from) {
    std::vector<TileType> types;
    for (const Array& argument : from.arguments) types.push_back(argument.type);
    extents_ = typed(from.form, types).extents;
  }

  Definition run() {
    const Term& value = from_.form.value;
    result_.form.value = as<term::Fold>(value) != nullptr ? inside(value) : visited(value);
    return std::move(result_);
  }

 private:
  Term inside(const Term& term) {
    std::vector<Term> parts;
    for (const Term& part : parts_of(term)) parts.push_back(visited(part));
    return with_parts(term, parts);
  }

  Term visited(const Term& term) {
    const auto* fold = as<term::Fold>(term);
    if (fold == nullptr || !apart_(*fold)) return inside(term);
    const std::set<int> free = free_indices(term);
    const std::vector<int> result(free.begin(), free.end());
    for (const auto& [known, read] : separated_)
      if (same(known, term)) return read;
    Term read = element_at(static_cast<int>(result_.arguments.size()), result);
    result_.arguments.push_back(defined(form_of(term, result), from_.arguments));
    separated_.emplace_back(term, read);
    return read;
  }

  IndexForm form_of(const Term& term, const std::vector<int>& result) const {
    std::vector<int> order = result;
    for (int index = 0; std::cmp_less(index, extents_.size()); ++index)
      if (std::find(result.begin(), result.end(), index) == result.end()) order.push_back(index);
    IndexForm form;
    form.rank = static_cast<int>(result.size());
    std::map<int, int> numbers;
    for (int index : order) {
      numbers.emplace(index, static_cast<int>(form.indices.size()));
      form.indices.push_back({from_.form.indices[static_cast<std::size_t>(index)].name,
                              extents_[static_cast<std::size_t>(index)]});
    }
    form.value = renumbered(term, numbers);
    return form;
  }

  const Definition& from_;
  const std::function<bool(const term::Fold&)>& apart_;
  Definition result_;
  std::vector<std::int64_t> extents_;
  std::vector<std::pair<Term, Term>> separated_;
};

}  // namespace

Definition with_folds_apart(const Definition& definition,
                            const std::function<bool(const term::Fold&)>& apart) {
  return Separation(definition, apart).run();
}

}  // namespace tessera::calculus
