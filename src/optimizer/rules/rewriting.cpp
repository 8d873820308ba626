#include "optimizer/rules/rewriting.h"

#include "base/check.h"
#include "ia/zeros.h"
#include "key/expression.h"

namespace tessera::optimizer {
namespace {

bool is_sparse(const ia::Plan& plan) { return plan.type().presence == Presence::sparse; }

/// The join that the logical plan of a physical join ends with, under its stages and its keys.
tessera::Plan logical_join(tessera::Plan plan) {
  while (!std::holds_alternative<op::Join>(operator_of(plan))) {
    const tessera::Plan input = inputs_of(operator_of(plan)).front();
    plan = input;
  }
  return plan;
}

/// Once zeros are filled in, a relation is not sparse again: an operator with one input has left
/// them out all the way if its result does.
bool leaves_zeros_out(const ia::Plan& plan) {
  if (root<ia::Join>(plan) == nullptr) return plan.logical().type().presence == Presence::sparse;
  const std::vector<ia::Plan> inputs = inputs_of(operator_of(plan));
  const tessera::Plan join = logical_join(plan.logical());
  for (int i = 0; i < 2; ++i)
    if (is_sparse(inputs[i]) && ia::needs_zeros(join, i)) return false;
  return plan.logical().type().presence == Presence::sparse;
}

}  // namespace

ia::Plan built(ia::Operator op) {
  const ia::Plan plan = ia::make(std::move(op));
  for (const ia::Plan& input : inputs_of(operator_of(plan)))
    TESSERA_REQUIRE(PlanError, !is_sparse(input) || leaves_zeros_out(plan),
                    "{} needs the zeros that {} leaves out", describe(plan), describe(input));
  return plan;
}

Rewrite confirmed(const ia::Plan& before, const ia::Plan& after) {
  if (after.type() != before.type())
    return Rewrite::no(fmt::format("the result would be {} instead of {}", to_string(after.type()),
                                   to_string(before.type())));
  if (after.pending() != before.pending()) return Rewrite::no("the partial sums would differ");
  if (after.logical().is_same(before.logical())) return after;
  return ia::make(operator_of(after), before.logical());
}

ia::Plan moved_as(const ia::Plan& move, ia::Plan what) {
  const tessera::Plan logical = what.logical();
  return ia::make(ia::with_inputs(operator_of(move), {std::move(what)}), logical);
}

const ia::Branch* only_branch(const ia::Map& map) {
  return map.branches.size() == 1 && !map.branches.front().cut ? &map.branches.front() : nullptr;
}

bool keeps_keys(const ia::Map& map) {
  const ia::Branch* branch = only_branch(map);
  if (branch == nullptr) return false;
  return !branch->keys ||
         is_identity(*branch->keys, static_cast<std::size_t>(map.input.type().arity()));
}

ia::Pipeline chained(ia::Pipeline first, const ia::Pipeline& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace tessera::optimizer
