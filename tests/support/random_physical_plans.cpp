#include "support/random_physical_plans.h"

#include <unordered_map>

namespace tessera {
namespace {

/// The moves that always bring together what an operator needs, as in table 1.
ia::Operator brought_together(const ia::Operator& op) {
  std::vector<ia::Plan> inputs = inputs_of(op);
  const ia::Plan& first = inputs.front();
  std::vector<int> all;
  for (int i = 0; i < first.type().arity(); ++i) all.push_back(i);
  if (std::holds_alternative<ia::Join>(op)) {
    inputs.front() = first.broadcast();
  } else if (const auto* aggregate = std::get_if<ia::Aggregate>(&op)) {
    inputs.front() = first.shuffle(aggregate->group_by);
  } else if (const auto* concat = std::get_if<ia::Concat>(&op)) {
    all.erase(all.begin() + concat->key_component);
    inputs.front() = first.shuffle(all);
  } else {
    inputs.front() = first.shuffle(all);
  }
  return with_inputs(op, inputs);
}

ia::Plan placed_somehow(const ia::Operator& op, const Plan& logical) {
  try {
    return ia::make(op, logical);
  } catch (const PlanError&) {
    return ia::make(brought_together(op), logical);
  }
}

/// Brings the summands of a partial relation together.
ia::Plan whole(Random& random, const ia::Plan& plan) {
  if (plan.pending().empty()) return plan;
  std::vector<int> all;
  for (int i = 0; i < plan.type().arity(); ++i) all.push_back(i);
  return ia::make(ia::Aggregate{random_move(random, plan), all, plan.pending()}, plan.logical());
}

}  // namespace

std::vector<int> random_components(Random& random, int arity, double each) {
  std::vector<int> result;
  for (int i = 0; i < arity; ++i)
    if (random.chance(each)) result.push_back(i);
  if (random.chance(0.3)) random.shuffle(result);
  return result;
}

KeyPredicate random_predicate(Random& random, int arity) {
  if (arity == 0 || random.chance(0.03)) return KeyPredicate::always();
  const auto component = [&] { return key(static_cast<int>(random.between(0, arity - 1))); };
  const auto one = [&]() -> KeyPredicate {
    switch (random.between(0, 5)) {
      case 0: return component() < KeyExpr(random.between(1, 3));
      case 1: return component() % 2 == KeyExpr(random.between(0, 1));
      case 2: return component() != KeyExpr(random.between(0, 2));
      case 3: return component() <= component() + random.between(-1, 1);
      case 4: return component() / 2 == component() / 2;
      default: return component() >= KeyExpr(random.between(0, 1));
    }
  };
  KeyPredicate result = one();
  while (random.chance(0.4)) result = random.chance(0.7) ? result && one() : result || one();
  return result;
}

Plan random_source(Random& random, int least_rank, int most_rank) {
  Plan plan = Plan::input(random_relation(random, least_rank, most_rank), "R");
  const int arity = plan.type().arity();
  if (random.chance(0.2)) plan = plan.filter(random_predicate(random, arity));
  if (random.chance(0.1))
    plan = plan.rekey(arity == 1 ? "<2*k0>" : arity == 2 ? "<k1, k0>" : "<k0, k2, k1>");
  if (random.chance(0.1)) plan = plan.transform({Apply("neg", {0}), Apply::column(0)});
  return plan;
}

Plan random_join(Random& random, const Plan& left, const Plan& right,
                 const std::vector<const char*>& kernels) {
  std::vector<int> of_left, of_right;
  for (int i = 0; i < std::min(left.type().arity(), right.type().arity()); ++i)
    if (random.chance(0.6)) {
      of_left.push_back(i);
      of_right.push_back(i);
    }
  if (random.chance(0.3)) random.shuffle(of_right);
  const auto columns = static_cast<int>(left.type().columns.size());
  return left.join(right, of_left, of_right, Apply(random.pick(kernels), {0, columns}));
}

Plan random_transform(Random& random, const Plan& plan) {
  std::vector<const char*> kernels = {"neg", "abs", "add_scalar(value=2)", "relu",
                                      "mul_scalar(value=3)"};
  if (plan.type().columns[0].type.shape.rank() > 0) {
    kernels.push_back("transpose");
    kernels.push_back("sum(axes=[0])");
    kernels.push_back("max(axes=[0])");
  }
  std::vector<Apply> stage;
  for (std::size_t c = 0; c < plan.type().columns.size(); ++c)
    stage.push_back(Apply(random.pick(kernels), {static_cast<int>(c)}));
  return plan.transform(stage);
}

ia::Plan random_move(Random& random, const ia::Plan& plan) {
  if (random.chance(0.2)) return plan.broadcast();
  return plan.shuffle(random_placement(random, plan.type().frontier, plan.sites()));
}

ia::Plan random_physical(Random& random, const Plan& plan, int sites) {
  const ia::Plan translated = ia::translate(plan, random_places(random, sites));
  std::unordered_map<const ia::Plan::Node*, ia::Plan> done;
  for (const ia::Plan& node : ia::in_order(translated)) {
    const ia::Operator& op = operator_of(node);
    std::vector<ia::Plan> inputs;
    for (const ia::Plan& input : inputs_of(op)) inputs.push_back(done.at(&input.node()));
    const bool move =
        std::holds_alternative<ia::Shuffle>(op) || std::holds_alternative<ia::Broadcast>(op);
    ia::Plan next = node;
    if (move && random.chance(0.4))
      next = random.chance(0.6) ? inputs[0] : random_move(random, inputs[0]);
    else if (!inputs.empty())
      next = whole(random, placed_somehow(with_inputs(op, inputs), node.logical()));
    if (random.chance(0.1)) next = random_move(random, next);
    done.emplace(&node.node(), next);
  }
  return done.at(&translated.node());
}

}  // namespace tessera
