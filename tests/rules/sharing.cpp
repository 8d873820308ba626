#include "rules/sharing.h"

#include <unordered_map>

#include "rules/moving.h"

namespace tessera::optimizer {

std::vector<ia::Plan> share_moves(const std::vector<ia::Plan>& roots) {
  std::unordered_map<const ia::Plan::Node*, ia::Plan> rebuilt;
  std::unordered_map<const ia::Plan::Node*, std::vector<ia::Plan>> moves;  // of each relation
  const auto shared = [&](const ia::Plan& node) {
    std::vector<ia::Plan> inputs;
    bool changed = false;
    for (const ia::Plan& input : inputs_of(operator_of(node))) {
      inputs.push_back(rebuilt.at(&input.node()));
      changed = changed || !inputs.back().is_same(input);
    }
    if (is_move(node)) {
      std::vector<ia::Plan>& known = moves[&inputs.front().node()];
      for (const ia::Plan& other : known)
        if (other.placement() == node.placement()) return other;
      known.push_back(changed ? moved_as(node, inputs.front()) : node);
      return known.back();
    }
    return changed ? ia::make(ia::with_inputs(operator_of(node), inputs), node.logical()) : node;
  };
  for (const ia::Plan& node : ia::in_order(roots)) rebuilt.emplace(&node.node(), shared(node));
  std::vector<ia::Plan> results;
  for (const ia::Plan& root : roots) results.push_back(rebuilt.at(&root.node()));
  return results;
}

}  // namespace tessera::optimizer
