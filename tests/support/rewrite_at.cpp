#include "support/rewrite_at.h"

#include <unordered_map>

#include "tessera/error.h"

namespace tessera {

optimizer::Rewrite rewrite_at(const ia::Plan& root, const ia::Plan& at,
                              const optimizer::Rule& rule) {
  const Rewrites rewritten = rewrite_at(std::vector<ia::Plan>{root}, at, rule);
  return rewritten ? optimizer::Rewrite(rewritten.plans.front())
                   : optimizer::Rewrite::no(rewritten.why_not);
}

Rewrites rewrite_at(const std::vector<ia::Plan>& roots, const ia::Plan& at,
                    const optimizer::Rule& rule) {
  const optimizer::Rewrite replaced = rule.apply(at);
  if (!replaced) return {{}, replaced.why_not};
  std::unordered_map<const ia::Plan::Node*, ia::Plan> rebuilt;  // where something changed below
  rebuilt.emplace(&at.node(), *replaced.plan);
  bool found = false;
  try {
    for (const ia::Plan& node : ia::in_order(roots)) {
      found = found || node.is_same(at);
      if (rebuilt.contains(&node.node())) continue;
      std::vector<ia::Plan> inputs = inputs_of(operator_of(node));
      bool changed = false;
      for (ia::Plan& input : inputs) {
        const auto other = rebuilt.find(&input.node());
        if (other == rebuilt.end()) continue;
        input = other->second;
        changed = true;
      }
      if (changed)
        rebuilt.emplace(&node.node(),
                        ia::make(ia::with_inputs(operator_of(node), inputs), node.logical()));
    }
  } catch (const PlanError& error) {
    return {{}, error.what()};
  }
  if (!found) return {{}, describe(at) + " is not part of the plan"};
  Rewrites result;
  for (const ia::Plan& root : roots) {
    const auto changed = rebuilt.find(&root.node());
    result.plans.push_back(changed == rebuilt.end() ? root : changed->second);
    if (result.plans.back().pending() != root.pending())
      return {{}, "groups that were complete would lie at several sites"};
  }
  return result;
}

}  // namespace tessera
