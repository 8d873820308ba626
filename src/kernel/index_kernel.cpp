#include <mutex>
#include <unordered_map>

#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/form/index_form.h"

// The kernel that computes what an index form says: what no other kernel does is written as one.

namespace tessera {
namespace {

/// Forms that have been read, by their text. Every call of the kernel asks for its own, tile by
/// tile, so that reading it anew would take longer than small tiles do.
class ReadForms {
 public:
  std::shared_ptr<const IndexForm> of(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (const auto known = forms_.find(text); known != forms_.end()) return known->second;
    if (forms_.size() >= most) forms_.clear();
    return forms_.emplace(text, std::make_shared<const IndexForm>(parse_index_form(text)))
        .first->second;
  }

 private:
  static constexpr std::size_t most = 1000;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const IndexForm>> forms_;
};

TypedForm form_of(Types types, const Params& params) {
  static ReadForms forms;
  return typed(*forms.of(params.text("form")), types);
}

/// The operations of a term and of what it is made of. A term is computed once for all values of
/// the indices that it reads, and a fold combines once for each value that it folds.
double operations(const Term& term, const TypedForm& form) {
  const auto times = [&](const std::set<int>& indices) {
    double product = 1;
    for (int index : indices)
      product *= static_cast<double>(form.extents[static_cast<std::size_t>(index)]);
    return product;
  };
  double own = 0;
  if (const auto* function = as<term::Applied>(term)) {
    own = function->function->flops * times(free_indices(term));
  } else if (const auto* folding = as<term::Fold>(term)) {
    std::set<int> all = free_indices(term);
    all.insert(folding->indices.begin(), folding->indices.end());
    own = times(all);
  }
  for (const Term& part : parts_of(term)) own += operations(part, form);
  return own;
}

}  // namespace

std::vector<Kernel> index_kernels() {
  return {{.name = "compute",
           .description =
               "what an index form says: each element of the result from elements of the "
               "arguments, by positions",
           .min_arguments = 1,
           .max_arguments = any_number,
           .parameters = {{"form", std::nullopt,
                           "the result's indices and an element of it, as in "
                           "'[i,j] sum([k] #0[i,k] * #1[k,j])'"}},
           .infer = [](Types types,
                       const Params& params) { return std::vector{form_of(types, params).result}; },
           .cost =
               [](Types types, const Params& params) {
                 const TypedForm form = form_of(types, params);
                 Cost cost{operations(form.form.value, form), dense_bytes(form.result)};
                 for (const TileType& type : types) cost.bytes += dense_bytes(type);
                 return cost;
               },
           .implementations = {{.name = "interpreted",
                                .layouts = {LayoutPattern::dense},
                                .run = [](Tiles tiles, const Params& params) {
                                  std::vector<TileType> types;
                                  for (const Tile& tile : tiles) types.push_back(tile.type());
                                  return std::vector{interpret(form_of(types, params), tiles)};
                                }}}}};
}

}  // namespace tessera
