#include <algorithm>

#include "base/check.h"
#include "optimizer/rules/distribution.h"
#include "rules/laws.h"

namespace tessera::optimizer {
namespace {

const char* const not_an_aggregation = "it is not an aggregation";

/// The folds of `width` columns before a stage such that folding and the stage commute. Nothing if
/// a column is not used, or in two ways with different folds.
std::optional<std::vector<KernelCall>> folds_before_stage(const std::vector<Apply>& stage,
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

std::optional<std::vector<KernelCall>> folds_before(const ia::Pipeline& stages,
                                                    std::vector<KernelCall> folds,
                                                    std::size_t columns) {
  for (std::size_t i = stages.size(); i-- > 0;) {
    // Every kernel that distributes makes one column.
    const std::size_t width = i == 0 ? columns : stages[i - 1].size();
    auto previous = folds_before_stage(stages[i], folds, width);
    if (!previous) return std::nullopt;
    folds = std::move(*previous);
  }
  return folds;
}

}  // namespace

/// R1-4. What is done to each group once it is complete can be part of the aggregation.
///   Map(id, f) . Agg(g, +) (R)  ==  Agg(g, +, finish f) (R)
/// f runs once a group, on the fold: it does not become part of the fold.
Rewrite finish_aggregation(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  if (map == nullptr) return Rewrite::no("it is not a map");
  const auto* aggregate = root<ia::Aggregate>(map->input);
  if (aggregate == nullptr) return Rewrite::no("it maps no aggregation");
  if (!keeps_keys(*map)) return Rewrite::no("the map changes the keys");
  if (!map->input.pending().empty()) return Rewrite::no("the groups are not complete");
  return rewritten(plan, [&] {
    ia::Aggregate after = *aggregate;
    after.finish = chained(aggregate->finish, map->branches.front().arrays);
    return ia::make(after, plan.logical());
  });
}

/// The same from right to left: the kernel runs once a group instead of once a tuple.
///   Agg(g, +) . Map(id, f) (R)  ==  Map(id, f) . Agg(g, +) (R)      if f(a + b) = f(a) + f(b)
Rewrite map_after_aggregation(const ia::Plan& plan) {
  const auto* aggregate = root<ia::Aggregate>(plan);
  if (aggregate == nullptr) return Rewrite::no(not_an_aggregation);
  const auto* map = root<ia::Map>(aggregate->input);
  if (map == nullptr) return Rewrite::no("it aggregates no map");
  if (!keeps_keys(*map)) return Rewrite::no("the map changes the keys");
  if (!plan.pending().empty()) return Rewrite::no("the groups are not complete");
  const ia::Pipeline& stages = map->branches.front().arrays;
  const auto folds = folds_before(stages, aggregate->kernels, map->input.type().columns.size());
  if (!folds) return Rewrite::no("the map does not distribute over the fold");
  return rewritten(plan, [&] {
    const ia::Plan groups = built(ia::Aggregate{map->input, aggregate->group_by, *folds});
    return built(ia::Map{groups, {{{}, {}, chained(stages, aggregate->finish)}}});
  });
}

/// R2-4. A move before an aggregation is avoided when each group already lies together.
///   Agg(g, +) . Move (R)  ==  Agg(g, +) (R)      if Part(R) = e and e is within g, or All(R)
Rewrite skip_shuffle(const ia::Plan& plan) {
  const auto* aggregate = root<ia::Aggregate>(plan);
  if (aggregate == nullptr) return Rewrite::no(not_an_aggregation);
  if (!is_move(aggregate->input)) return Rewrite::no("it aggregates no move");
  const ia::Plan source = without_moves(aggregate->input);
  return rewritten(plan, [&] {
    ia::Aggregate after = *aggregate;
    after.input = source;
    const ia::Plan groups = ia::make(after, plan.logical());
    TESSERA_REQUIRE(PlanError, groups.pending().empty(),
                    "a group may lie at several sites: {} lies {}", describe(source),
                    source.placement().to_string());
    return groups;
  });
}

/// R2-5. An aggregation can begin before the move that brings its groups together.
///   Agg(g, +) . Move(d) (R)  ==  Agg(id, +) . Move(d') . Agg(g, +) (R)
///     if + is associative and commutative
/// where d', in terms of the groups' keys, is where the move brought each group.
Rewrite aggregate_twice(const ia::Plan& plan) {
  const auto* aggregate = root<ia::Aggregate>(plan);
  if (aggregate == nullptr) return Rewrite::no(not_an_aggregation);
  if (!is_move(aggregate->input)) return Rewrite::no("it aggregates no move");
  if (!aggregate->input.pending().empty())
    return Rewrite::no("it is the second aggregation already");
  if (!plan.pending().empty()) return Rewrite::no("the move does not bring the groups together");
  for (const KernelCall& kernel : aggregate->kernels)
    if (!kernel.properties().associative || !kernel.properties().commutative)
      return Rewrite::no(kernel.to_string() + " is not known to be associative and commutative");
  return rewritten(plan, [&] {
    const ia::Plan parts = ia::make(
        ia::Aggregate{without_moves(aggregate->input), aggregate->group_by, aggregate->kernels},
        unfinished(plan));
    TESSERA_REQUIRE(PlanError, !parts.pending().empty(), "each group lies together before the {}",
                    describe(aggregate->input));
    return ia::make(
        ia::Aggregate{moved_to(plan.placement(), parts), all_components(plan.type().arity()),
                      aggregate->kernels, aggregate->finish},
        plan.logical());
  });
}

/// R2-1 and R2-4. The groups of an aggregation, or the pieces of a concatenation, may be brought
/// together anywhere.
///   Agg(g, +) . Move (R)  ==  Agg(g, +) . Move(d . g) (R)      which lies at d
Rewrite aggregate_at(const ia::Plan& plan, const Placement& to) {
  const auto* aggregate = root<ia::Aggregate>(plan);
  const auto* concat = root<ia::Concat>(plan);
  if (aggregate == nullptr && concat == nullptr) return Rewrite::no(not_an_aggregation);
  const ia::Plan input = inputs_of(operator_of(plan)).front();
  if (!is_move(input)) return Rewrite::no("it aggregates no move");
  if (to.is_scattered()) return Rewrite::no("tuples cannot be sent to " + to.to_string());
  // What the components of the groups' keys are called before the aggregation.
  std::vector<int> before;
  for (int i = 0; i < plan.type().arity(); ++i)
    before.push_back(aggregate != nullptr        ? aggregate->group_by[i]
                     : i < concat->key_component ? i
                                                 : i + 1);
  return rewritten(plan, [&] {
    const ia::Plan source = without_moves(input);
    const Placement at = to.renumber(before, Axis::Kind::copy);
    const ia::Plan moved = at.is_all() ? broadcast(source) : moved_to(at, source);
    return ia::make(ia::with_inputs(operator_of(plan), {moved}), plan.logical());
  });
}

/// R2-1. Of two moves only the last one counts, also where groups are folded between them.
///   Move(d) . Agg(g, +) . Move(e) (R)  ==  Agg(g, +) . Move(d . g) (R)
Rewrite move_before_aggregation(const ia::Plan& plan) {
  if (!is_move(plan)) return Rewrite::no("it is not a move");
  return aggregate_at(inputs_of(operator_of(plan)).front(), plan.placement());
}

}  // namespace tessera::optimizer
