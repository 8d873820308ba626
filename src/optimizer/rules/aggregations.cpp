#include <algorithm>

#include "optimizer/rules/distribution.h"
#include "optimizer/rules/laws.h"
#include "optimizer/rules/rewriting.h"

// An aggregation makes little of much: it wants to come before moves, and costly kernels after it.

namespace tessera::optimizer {
namespace {

/// What the folds of an aggregation become through a map, or came from.
std::optional<std::vector<KernelCall>> folds_after(const ia::Pipeline& stages,
                                                   std::vector<KernelCall> folds) {
  for (const std::vector<Apply>& stage : stages) {
    auto next = optimizer::folds_after(stage, folds);
    if (!next) return std::nullopt;
    folds = std::move(*next);
  }
  return folds;
}

}  // namespace

/// R1-4, second form. A map that distributes over the fold can come before it.
///   Map(id, f) . Agg(g, +) (R)  ==  Agg(g, +) . Map(id, f) (R)      if f(a + b) = f(a) + f(b)
Rewrite map_before_aggregation(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  if (map == nullptr) return Rewrite::no("it is not a map");
  const auto* aggregate = root<ia::Aggregate>(map->input);
  if (aggregate == nullptr) return Rewrite::no("its input is not an aggregation");
  if (!keeps_keys(*map)) return Rewrite::no("the map changes the keys");
  if (!aggregate->finish.empty()) return Rewrite::no("the groups are finished before the map");
  const auto folds = folds_after(map->branches.front().arrays, aggregate->kernels);
  if (!folds) return Rewrite::no("the map does not distribute over the fold");
  return rewritten(plan, [&] {
    const ia::Plan mapped =
        built(ia::Map{aggregate->input, {{{}, {}, map->branches.front().arrays}}});
    return built(ia::Aggregate{mapped, aggregate->group_by, *folds});
  });
}

}  // namespace tessera::optimizer
