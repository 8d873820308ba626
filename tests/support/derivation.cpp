#include "support/derivation.h"

#include "optimizer/rules/rewriting.h"
#include "rules/laws.h"
#include "rules/sharing.h"
#include "support/rewrite_at.h"

namespace tessera {

Derivation::Derivation(const std::vector<Plan>& results, const ia::PlaceInput& placed)
    : plans_(ia::translate(results, placed)) {}

ia::Plan Derivation::node(const Plan& what) const {
  std::optional<ia::Plan> found;
  for (const ia::Plan& node : ia::in_order(plans_))
    if (node.logical().is_same(what) && !ia::is_move(node)) found = node;
  if (!found) throw InternalError("nothing computes\n" + what.explain());
  return *found;
}

Derivation& Derivation::apply(const ia::Plan& node, const optimizer::Rule& rule) {
  const Rewrites rewritten = rewrite_at(plans_, node, rule);
  if (!rewritten)
    throw InternalError(rule.name + " does not apply to " + ia::describe(node) + ": " +
                        rewritten.why_not);
  plans_ = rewritten.plans;
  return *this;
}

Derivation& Derivation::at(const Plan& what, const optimizer::Rule& rule) {
  return apply(node(what), rule);
}

Derivation& Derivation::below(const Plan& what, const std::string& rule) {
  return apply(ia::inputs_of(ia::operator_of(node(what))).front(), rule_named(rule));
}

Derivation& Derivation::gathered(const Plan& what, const Placement& to) {
  return at(what, {"aggregate_at", "R2-4",
                   [&](const ia::Plan& plan) { return optimizer::aggregate_at(plan, to); }});
}

std::vector<ia::Plan> Derivation::plans() const {
  std::vector<ia::Plan> plans = optimizer::share_moves(plans_);
  for (bool again = true; again;) {
    again = false;
    for (const ia::Plan& node : ia::in_order(plans))
      if (const auto without = rewrite_at(plans, node, rule_named("idle_move"))) {
        plans = without.plans;
        again = true;
        break;
      }
  }
  return plans;
}

std::vector<std::string> moves_of(const std::vector<ia::Plan>& plans) {
  std::vector<std::string> moves;
  for (const ia::Plan& node : ia::in_order(plans))
    if (ia::is_move(node))
      moves.push_back(ia::describe(node) + ": " +
                      ia::describe(ia::inputs_of(ia::operator_of(node)).front()));
  return moves;
}

}  // namespace tessera
