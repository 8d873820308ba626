#include "optimizer/rules/distribution.h"

#include <algorithm>

namespace tessera::optimizer {
namespace {

bool distributes(const Apply& apply, const KernelCall& over) {
  if (apply.columns.size() != 1 || apply.kernel.kernel().max_arguments != 1) return false;
  const auto& claims = apply.kernel.properties().distributes_over;
  return std::any_of(claims.begin(), claims.end(), [&](const auto& claim) {
    return claim.over == over.kernel().name && claim.argument == 0;
  });
}

}  // namespace

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

std::optional<std::vector<KernelCall>> folds_before(const std::vector<Apply>& stage,
                                                    const std::vector<KernelCall>& folds,
                                                    std::size_t width) {
  std::vector<std::optional<KernelCall>> before(width);
  if (folds.size() != stage.size()) return std::nullopt;
  for (std::size_t i = 0; i < stage.size(); ++i) {
    if (!distributes(stage[i], folds[i])) return std::nullopt;
    std::optional<KernelCall>& fold = before[stage[i].columns.front()];
    if (fold && !(*fold == folds[i])) return std::nullopt;
    fold = folds[i];
  }
  std::vector<KernelCall> result;
  for (const std::optional<KernelCall>& fold : before) {
    if (!fold) return std::nullopt;
    result.push_back(*fold);
  }
  return result;
}

}  // namespace tessera::optimizer
