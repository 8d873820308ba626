#include <algorithm>

#include "optimizer/rules/distribution.h"
#include "optimizer/rules/laws.h"
#include "optimizer/rules/rewriting.h"
#include "tra/plan_node.h"

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

/// Whether a map makes numbers of truth values: their fold with add says whether one holds, that of
/// numbers adds up.
bool counts_truths(const ia::Map& map, const ia::Plan& result) {
  const auto has_truths = [](const RelationType& type) {
    return std::any_of(type.columns.begin(), type.columns.end(),
                       [](const auto& column) { return column.type.dtype == DType::boolean; });
  };
  return has_truths(map.input.type()) &&
         !std::all_of(result.type().columns.begin(), result.type().columns.end(),
                      [](const auto& column) { return column.type.dtype == DType::boolean; });
}

/// Which components of its input's key a key function consists of; none if it computes others.
std::optional<std::vector<int>> chosen(const KeyFunction& keys, int arity) {
  std::vector<int> components;
  for (const KeyExpr& expression : keys.components()) {
    int component = 0;
    while (component < arity && !equal(expression, key(component))) ++component;
    if (component == arity) return std::nullopt;
    components.push_back(component);
  }
  return components;
}

/// Whether the members of a group come in the same order under their keys before a map that chooses
/// these components.
bool keeps_order(const std::vector<int>& components, const std::vector<int>& group_by) {
  std::vector<int> others;
  for (int i = 0; std::cmp_less(i, components.size()); ++i)
    if (std::find(group_by.begin(), group_by.end(), i) == group_by.end())
      others.push_back(components[i]);
  return std::is_sorted(others.begin(), others.end());
}

bool folds_in_any_order(const KernelCall& kernel) {
  return kernel.properties().associative && kernel.properties().commutative;
}

}  // namespace

/// Groups are the same by the components of a key that a map has not yet put elsewhere, or left
/// out. Without the map the aggregation may follow a join, and be fused with it.
///   Agg(g, +) . Map(h, f) (R)  ==  Agg(h . g, +) . Map(id, f) (R)     if h chooses components
/// Tuples that differ only in what h leaves out would be refused after the map, not added up.
Rewrite aggregate_before_rekey(const ia::Plan& plan) {
  const auto* aggregate = root<ia::Aggregate>(plan);
  if (aggregate == nullptr) return Rewrite::no("it is not an aggregation");
  const bool is_moved = is_move(aggregate->input);
  const ia::Plan below =
      is_moved ? inputs_of(operator_of(aggregate->input)).front() : aggregate->input;
  const auto* map = root<ia::Map>(below);
  if (map == nullptr) return Rewrite::no("its input is not a map");
  const ia::Branch* branch = only_branch(*map);
  if (branch == nullptr)
    return Rewrite::no("the map returns several tuples per input, or cuts them");
  if (!branch->keys) return Rewrite::no("the map keeps the keys");
  const auto components = chosen(*branch->keys, map->input.type().arity());
  if (!components) return Rewrite::no("the map computes components of keys");
  if (below.logical().closedness().unique.answer != Answer::yes)
    return Rewrite::no("the map may give two tuples the same key");
  if (!keeps_order(*components, aggregate->group_by) &&
      !std::all_of(aggregate->kernels.begin(), aggregate->kernels.end(), folds_in_any_order))
    return Rewrite::no("the fold depends on the order that the map changes");
  return rewritten(plan, [&] {
    ia::Aggregate after = *aggregate;
    for (int& component : after.group_by) component = (*components)[component];
    after.input = branch->arrays.empty() ? map->input
                                         : built(ia::Map{map->input, {{{}, {}, branch->arrays}}});
    if (is_moved)
      after.input = root<ia::Broadcast>(aggregate->input) != nullptr
                        ? after.input.broadcast()
                        : after.input.shuffle(after.group_by);
    return built(after);
  });
}

/// R1-4, second form. A map that distributes over the fold can come before it.
///   Map(id, f) . Agg(g, +) (R)  ==  Agg(g, +) . Map(id, f) (R)      if f(a + b) = f(a) + f(b)
Rewrite map_before_aggregation(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  if (map == nullptr) return Rewrite::no("it is not a map");
  const auto* aggregate = root<ia::Aggregate>(map->input);
  if (aggregate == nullptr) return Rewrite::no("its input is not an aggregation");
  if (!keeps_keys(*map)) return Rewrite::no("the map changes the keys");
  if (!aggregate->finish.empty()) return Rewrite::no("the groups are finished before the map");
  if (counts_truths(*map, plan)) return Rewrite::no("the map makes numbers of truth values");
  const auto folds = folds_after(map->branches.front().arrays, aggregate->kernels);
  if (!folds) return Rewrite::no("the map does not distribute over the fold");
  return rewritten(plan, [&] {
    const ia::Plan mapped =
        built(ia::Map{aggregate->input, {{{}, {}, map->branches.front().arrays}}});
    return built(ia::Aggregate{mapped, aggregate->group_by, *folds});
  });
}

}  // namespace tessera::optimizer
