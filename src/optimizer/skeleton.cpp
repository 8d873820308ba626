#include "optimizer/skeleton.h"

#include <unordered_map>

namespace tessera::optimizer {

Skeleton skeleton_of(const std::vector<ia::Plan>& plans) {
  Skeleton skeleton;
  skeleton.sites = plans.front().sites();
  std::unordered_map<const ia::Plan::Node*, int> number;
  for (const ia::Plan& node : ia::in_order(plans)) {
    const ia::Operator& op = ia::operator_of(node);
    std::vector<int> inputs;
    for (const ia::Plan& input : ia::inputs_of(op)) inputs.push_back(number.at(&input.node()));
    const auto* aggregate = std::get_if<ia::Aggregate>(&op);
    const bool again =
        aggregate != nullptr && !aggregate->input.pending().empty() && aggregate->finish.empty();
    if (is_move(node) || again) {
      number[&node.node()] = inputs.front();
      continue;
    }
    number[&node.node()] = static_cast<int>(skeleton.nodes.size());
    skeleton.nodes.push_back({node, inputs});
  }
  for (const ia::Plan& plan : plans) skeleton.roots.push_back(number.at(&plan.node()));
  return skeleton;
}

std::vector<int> count_readers(const Skeleton& skeleton) {
  std::vector<int> readers(skeleton.nodes.size(), 0);
  for (const Skeleton::Node& node : skeleton.nodes)
    for (int input : node.inputs) ++readers[input];
  for (int root : skeleton.roots) ++readers[root];
  return readers;
}

}  // namespace tessera::optimizer
