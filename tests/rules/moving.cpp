#include "rules/moving.h"

namespace tessera::optimizer {

ia::Plan without_moves(ia::Plan plan) {
  while (is_move(plan)) {
    const ia::Plan input = inputs_of(operator_of(plan)).front();
    plan = input;
  }
  return plan;
}

ia::Plan moved_to(const Placement& to, ia::Plan what) {
  return what.placement() == to ? what : what.shuffle(to);
}

ia::Plan broadcast(ia::Plan what) { return what.placement().is_all() ? what : what.broadcast(); }

std::optional<tessera::Plan> unfinished(const ia::Plan& aggregation) {
  const auto* aggregate = root<ia::Aggregate>(aggregation);
  const bool plain = aggregate != nullptr && aggregate->finish.empty();
  return plain ? std::optional(aggregation.logical()) : std::nullopt;
}

std::vector<int> all_components(int arity) {
  std::vector<int> result;
  for (int i = 0; i < arity; ++i) result.push_back(i);
  return result;
}

}  // namespace tessera::optimizer
