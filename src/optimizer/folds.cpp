#include "optimizer/folds.h"

#include "ia/contents.h"
#include "ia/list_tuples.h"
#include "optimizer/rules/rewriting.h"
#include "optimizer/traffic.h"
#include "tra/plan_node.h"

namespace tessera::optimizer {
namespace {

/// What lies below moves.
ia::Plan below_moves(ia::Plan plan) {
  while (is_move(plan)) plan = ia::inputs_of(ia::operator_of(plan)).front();
  return plan;
}

/// The tuples of an aggregation's result, over all sites; of a partial one, its summands.
double groups_of(const ia::Plan& plan, const ia::Aggregate& aggregate) {
  const Placement& from = aggregate.input.placement();
  if (plan.pending().empty()) {
    const double keys = counts_by_kinds(plan.logical())
                            ? ia::estimated_tuples(plan.logical())
                            : static_cast<double>(ia::contents_of(plan).keys.size());
    return keys * plan.placement().copies();
  }
  const bool by_kinds = counts_by_kinds(plan.logical(), aggregate.input.logical()) &&
                        !plan.placement().is_scattered() && !from.is_scattered();
  SummandKinds kinds;
  if (by_kinds)
    kinds = kinds_of_summands(plan, aggregate.input, aggregate.group_by, from, plan.placement());
  else
    kinds = {ia::contents_of(plan), ia::contents_of(aggregate.input)};
  const Holders holders = summand_holders(kinds.result, kinds.input, aggregate.group_by, from);
  const double floats = by_kinds ? ia::floats_of(plan.type().columns) : 0;
  double groups = 0;
  for (std::size_t i = 0; i < holders.size(); ++i)
    groups += (holders.begin[i + 1] - holders.begin[i]) *
              (floats > 0 ? kinds.result.floats[i] / floats : 1.0);  // keys of one kind
  return groups;
}

/// Whether products are added to sums as they are made, which takes no more than to make them.
bool adds_to_sums(const ia::Plan& plan) {
  const auto* both = std::get_if<ia::JoinAggregate>(&ia::operator_of(plan));
  return both != nullptr && both->adds_in_place(both->aggregate.input.type().columns.front().type);
}

}  // namespace

Folds::Counted Folds::of(const ia::Plan& plan, double tuples) {
  const ia::Aggregate& aggregate = *ia::aggregate_of(ia::operator_of(plan));
  const double groups = groups_of(plan, aggregate);
  if (!plan.pending().empty()) summands_[&plan.node()] = groups;
  // Of a partial result every site that has a summand sends it.
  if (is_move(aggregate.input) && !aggregate.input.pending().empty()) {
    const auto known = summands_.find(&below_moves(aggregate.input).node());
    if (known != summands_.end()) tuples = known->second * aggregate.input.placement().copies();
  }
  return {adds_to_sums(plan) ? 0 : std::max(0.0, tuples - groups), groups};
}

}  // namespace tessera::optimizer
