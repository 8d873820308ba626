#include <numeric>

#include "base/check.h"
#include "optimizer/join_of_copies.h"
#include "optimizer/search.h"

// The plan that a finished search stands for.

namespace tessera::optimizer {
namespace {

ia::Plan moved(const ia::Plan& plan, const Placement& to) {
  if (plan.placement() == to) return plan;
  return to.is_all() ? plan.broadcast() : plan.shuffle(to);
}

}  // namespace

std::optional<std::vector<ia::Plan>> Search::run() {
  decide_shared();
  cost_ = total();
  if (cost_ == infinite) return std::nullopt;
  std::vector<ia::Plan> results;
  for (int root : skeleton_.roots) {
    if (at_[root] >= 0) {
      results.push_back(emit(root, at_[root]));
      continue;
    }
    const Way way = best_anywhere(root);
    results.push_back(emit_way(root, place_of(way), way));
  }
  return results;
}

std::optional<Placement> Search::computed_at(int node) const {
  if (computed_at_[node] < 0) return std::nullopt;
  return costs_.placement(computed_at_[node]);
}

ia::Plan Search::emit(int node, int place) {
  const std::int64_t key = std::int64_t{node} << 32 | static_cast<std::uint32_t>(place);
  const auto known = emitted_.find(key);
  if (known != emitted_.end()) return known->second;
  ia::Plan plan = [&] {
    if (at_[node] < 0) return emit_way(node, place, best(node, place));
    if (place == at_[node]) return emit_way(node, place, best_computed(node, place));
    return moved(emit(node, at_[node]), costs_.placement(place));
  }();
  emitted_.emplace(key, plan);
  return plan;
}

ia::Plan Search::emit_way(int node, int place, const Way& way) {
  const ia::Plan& what = costs_.plan(node);
  const ia::Operator& op = ia::operator_of(what);
  const std::vector<int>& sources = skeleton_.nodes[node].inputs;
  computed_at_[node] = way.option.place;
  if (std::holds_alternative<ia::Input>(op)) {
    const std::optional<ia::Plan>& made = skeleton_.nodes[node].made;
    const ia::Plan input =
        made ? *made : ia::Plan::input(what.logical(), costs_.placement(way.option.place));
    return moved(input, costs_.placement(place));
  }
  std::vector<ia::Plan> inputs;
  for (std::size_t i = 0; i < sources.size(); ++i)
    inputs.push_back(emit(sources[i], way.option.inputs[i]));
  if (!way.option.pending) {
    ia::Operator physical = ia::with_inputs(op, inputs);
    if (way.option.copied)
      physical = join_of_copies(std::get<ia::Join>(physical), costs_.placement(way.option.place));
    const ia::Plan plan = ia::make(physical, what.logical());
    TESSERA_INVARIANT(plan.placement() == costs_.placement(way.option.place),
                      "{} was to lie {}, but lies {}", ia::describe(plan),
                      costs_.placement(way.option.place).to_string(), plan.placement().to_string());
    return moved(plan, costs_.placement(place));
  }
  // Summands first where they are, then all of them where they belong.
  ia::Aggregate parts = std::get<ia::Aggregate>(ia::with_inputs(op, inputs));
  const ia::Pipeline finish = std::exchange(parts.finish, {});
  const ia::Plan summands = finish.empty() ? ia::make(parts, what.logical()) : ia::make(parts);
  std::vector<int> same(parts.group_by.size());
  std::iota(same.begin(), same.end(), 0);
  const ia::Plan together = summands.shuffle(costs_.placement(way.via));
  const ia::Plan whole =
      ia::make(ia::Aggregate{together, same, parts.kernels, finish}, what.logical());
  return moved(whole, costs_.placement(place));
}

}  // namespace tessera::optimizer
