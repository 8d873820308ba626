#include "kernel/form/compiled_form.h"

namespace tessera {
namespace {

double operations_of(const Term& term, const TypedForm& form) {
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
  for (const Term& part : parts_of(term)) own += operations_of(part, form);
  return own;
}

}  // namespace

double operations(const TypedForm& form) { return operations_of(form.form.value, form); }

}  // namespace tessera
