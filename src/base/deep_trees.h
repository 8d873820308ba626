#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// Plans are trees that share their inputs, and may be as deep as a program is long: they are walked
// and released without recursion.

namespace tessera {

/// The nodes below some roots, each once, inputs before what reads them.
template <class Plan, class InputsOf>
std::vector<Plan> inputs_first(const std::vector<Plan>& roots, InputsOf&& inputs_of) {
  std::vector<Plan> order;
  std::unordered_set<const typename Plan::Node*> seen;
  std::vector<std::pair<Plan, bool>> stack;
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) stack.emplace_back(*root, false);
  while (!stack.empty()) {
    const auto [plan, inputs_done] = stack.back();
    stack.pop_back();
    if (inputs_done) {
      order.push_back(plan);
    } else if (seen.insert(&plan.node()).second) {
      stack.emplace_back(plan, true);
      for (const Plan& input : inputs_of(plan)) stack.emplace_back(input, false);
    }
  }
  return order;
}

/// How many nodes read each one, and whoever asks for the roots.
template <class Plan, class InputsOf>
std::unordered_map<const typename Plan::Node*, int> count_readers(const std::vector<Plan>& roots,
                                                                  InputsOf&& inputs_of) {
  std::unordered_map<const typename Plan::Node*, int> readers;
  for (const Plan& plan : inputs_first(roots, inputs_of))
    for (const Plan& input : inputs_of(plan)) ++readers[&input.node()];
  for (const Plan& root : roots) ++readers[&root.node()];
  return readers;
}

/// Releases what a dying node holds one after the other: a chain of destructors would be as deep
/// as the plan. `take_inputs` moves a node's inputs to the end of a list.
template <class Node, class TakeInputs>
void release_inputs(Node& dying, TakeInputs&& take_inputs) {
  std::vector<std::shared_ptr<const Node>> left;
  take_inputs(dying, left);
  while (!left.empty()) {
    const std::shared_ptr<const Node> node = std::move(left.back());
    left.pop_back();
    // Nobody else can come to hold a node that only this list still knows.
    if (node && node.use_count() == 1) take_inputs(const_cast<Node&>(*node), left);  // NOLINT
  }
}

}  // namespace tessera
