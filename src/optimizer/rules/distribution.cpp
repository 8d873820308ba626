#include "optimizer/rules/distribution.h"

#include <algorithm>

namespace tessera::optimizer {
bool distributes(const Apply& apply, const KernelCall& over) {
  if (!apply.kernel) return true;
  if (apply.columns.size() != 1 || apply.kernel->kernel().max_arguments != 1) return false;
  const auto& claims = apply.kernel->properties().distributes_over;
  return std::any_of(claims.begin(), claims.end(), [&](const auto& claim) {
    return claim.over == over.kernel().name && claim.argument == 0;
  });
}

std::optional<std::vector<KernelCall>> folds_after(const std::vector<Apply>& stage,
                                                   const std::vector<KernelCall>& folds) {
  std::vector<KernelCall> after;
  for (const Apply& apply : stage) {
    if (apply.columns.size() != 1) return std::nullopt;
    const KernelCall& fold = folds[apply.columns.front()];
    if (!distributes(apply, fold)) return std::nullopt;
    after.push_back(fold);
  }
  return after;
}

}  // namespace tessera::optimizer
