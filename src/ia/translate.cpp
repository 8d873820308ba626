#include <unordered_map>

#include "base/check.h"
#include "ia/common.h"
#include "ia/plan_node.h"
#include "ia/zeros.h"
#include "tra/plan_node.h"

// Table 1 of the paper: each operator of a TRA plan as physical operators, the simplest way that is
// always right.

namespace tessera::ia {
namespace {

std::vector<int> all_but(int component, int arity) {
  std::vector<int> kept;
  for (int i = 0; i < arity; ++i)
    if (i != component) kept.push_back(i);
  return kept;
}

/// At every site, or with what agrees in these components; on one site it is so already.
Plan everywhere(const Plan& plan) { return plan.sites() == 1 ? plan : plan.broadcast(); }
Plan together_by(const Plan& plan, const std::vector<int>& components) {
  return plan.sites() == 1 ? plan : plan.shuffle(components);
}

/// The relation with its zeros, at sites that know which of them are theirs.
Plan filled(const Plan& plan) {
  if (!plan.placement().is_scattered()) return plan.fill();
  return plan.shuffle(all_but(-1, plan.type().arity())).fill();
}

struct Translate {
  const tessera::Plan& logical;
  const std::vector<Plan>& inputs;
  const PlaceInput& placed;

  Plan operator()(const op::Input&) const { return Plan::input(logical, placed(logical)); }
  Plan operator()(const op::Aggregate& aggregate) const {
    return make(Aggregate{together_by(inputs[0], aggregate.group_by), aggregate.group_by,
                          aggregate.kernels},
                logical);
  }
  Plan operator()(const op::Join& join) const {
    return make(
        Join{everywhere(inputs[0]), inputs[1], join.left_keys, join.right_keys, {join.projection}},
        logical);
  }
  Plan operator()(const op::ReKey& rekey) const {
    return make(Map{inputs[0], {{rekey.function, {}, {}}}}, logical);
  }
  Plan operator()(const op::Filter& filter) const {
    return make(Filter{inputs[0], filter.predicate}, logical);
  }
  Plan operator()(const op::Transform& transform) const {
    return make(Map{inputs[0], {{{}, {}, {transform.projection}}}}, logical);
  }
  Plan operator()(const op::Tile& tile) const {
    return make(operator_of(inputs[0].tile(tile.dimension, tile.size)), logical);
  }
  Plan operator()(const op::Concat& concat) const {
    const Plan together =
        together_by(inputs[0], all_but(concat.key_component, inputs[0].type().arity()));
    return make(Concat{together, concat.key_component, concat.dimension}, logical);
  }
};

}  // namespace

bool needs_zeros(const tessera::Plan& plan, int input) {
  const tessera::Operator& op = tessera::operator_of(plan);
  const std::vector<tessera::Plan> inputs = tessera::inputs_of(op);
  if (inputs[input].type().presence != Presence::sparse) return false;
  if (const auto* join = std::get_if<op::Join>(&op)) {
    const bool partial = inputs[0].type().presence == Presence::partial ||
                         inputs[1].type().presence == Presence::partial;
    return partial || !may_skip_zeros(*join, input == 0);
  }
  if (const auto* aggregate = std::get_if<op::Aggregate>(&op))
    return !may_skip_zeros(aggregate->kernels);
  if (const auto* transform = std::get_if<op::Transform>(&op))
    return !may_skip_zeros(transform->projection);
  if (std::holds_alternative<op::Concat>(op)) return true;
  if (std::holds_alternative<op::Tile>(op)) return false;
  return plan.type().presence != Presence::sparse;  // keys that come out with holes
}

PlaceInput round_robin(int sites) {
  return [sites](const tessera::Plan& input) {
    std::vector<int> components;
    for (int i = 0; i < input.type().arity(); ++i) components.push_back(i);
    return Placement::part(components, input.frontier(), sites);
  };
}

Plan translate(const tessera::Plan& plan, const PlaceInput& placed) {
  return translate(std::vector<tessera::Plan>{plan}, placed).front();
}

std::vector<Plan> translate(const std::vector<tessera::Plan>& plans, const PlaceInput& placed) {
  std::unordered_map<const tessera::Plan::Node*, Plan> done;
  CommonNodes common;  // what is computed twice is translated once
  std::vector<Plan> results;
  for (const tessera::Plan& root : plans) {
    for (const tessera::Plan& node : tessera::in_order(root)) {
      if (done.contains(&node.node())) continue;
      const tessera::Plan& first = common.canonical(node);
      if (!first.is_same(node)) {
        done.emplace(&node.node(), done.at(&first.node()));
        continue;
      }
      std::vector<Plan> inputs;
      const std::vector<tessera::Plan> sources = tessera::inputs_of(tessera::operator_of(node));
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const Plan input = done.at(&sources[i].node());
        inputs.push_back(needs_zeros(node, static_cast<int>(i)) ? filled(input) : input);
      }
      done.emplace(&node.node(),
                   std::visit(Translate{node, inputs, placed}, tessera::operator_of(node)));
    }
    results.push_back(done.at(&root.node()));
  }
  return results;
}

}  // namespace tessera::ia
