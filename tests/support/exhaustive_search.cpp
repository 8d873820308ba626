#include "support/exhaustive_search.h"

#include <map>
#include <numeric>
#include <unordered_map>

#include "tra/plan_node.h"

namespace tessera {
namespace {

/// Every grid over the components of a key, with copies or without; none splits more than there is.
std::vector<Placement> all_grids(const Key& frontier, int sites, std::vector<Axis> axes = {}) {
  std::vector<Placement> result{Placement(axes, sites)};
  int left = sites;
  for (const Axis& axis : axes) left /= axis.extent;
  for (int extent = 2; extent <= left; ++extent)
    for (int component = -1; component < static_cast<int>(frontier.size()); ++component) {
      if (component >= 0 && extent > frontier[component]) continue;
      std::vector<Axis> longer = axes;
      if (component < 0)
        longer.push_back({extent, Axis::Kind::copy, {}});
      else
        longer.push_back({extent, Axis::Kind::split, {{component, 1, 1}}});
      for (Placement& grid : all_grids(frontier, sites, longer)) result.push_back(std::move(grid));
    }
  return result;
}

/// The ways to have a node's result that are not dominated: one for each placement.
using Plans = std::unordered_map<Placement, std::pair<double, ia::Plan>, PlacementHash>;

class Exhaustive {
 public:
  explicit Exhaustive(const OptimizerOptions& options) : options_(options) {}

  Plans all(const Plan& plan) {
    const Operator& op = operator_of(plan);
    Plans found;
    if (std::holds_alternative<op::Input>(op)) {
      add(found, 0, ia::Plan::input(plan, options_.placed(plan).value()));
    } else if (const auto* join = std::get_if<op::Join>(&op)) {
      const Plans left = all(join->left), right = all(join->right);
      for (const auto& [l_at, l] : left)
        for (const auto& [r_at, r] : right)
          attempt(
              found, l.first + r.first,
              ia::Join{l.second, r.second, join->left_keys, join->right_keys, {join->projection}},
              plan);
    } else if (const auto* fold = std::get_if<op::Aggregate>(&op)) {
      for (const auto& [at, input] : all(fold->input))
        attempt(found, input.first, ia::Aggregate{input.second, fold->group_by, fold->kernels},
                plan);
    } else if (const auto* transform = std::get_if<op::Transform>(&op)) {
      for (const auto& [at, input] : all(transform->input))
        attempt(found, input.first, ia::Map{input.second, {{{}, {}, {transform->projection}}}},
                plan);
    } else {
      throw InternalError("not part of the exhaustive search: " + describe(op));
    }
    return moved(found, plan);
  }

 private:
  /// The cost of the operator at the root alone.
  double own_cost(const ia::Plan& plan) const {
    const PlanCost cost = cost_of(plan, options_.machine);
    const OperatorCost& own = cost.operators.back();
    if (options_.objective == Objective::exact) return own.seconds;
    return own.floats_moved > 0 ? own.published : 0;
  }

  void add(Plans& found, double cost, const ia::Plan& plan) const {
    const auto [place, added] = found.try_emplace(plan.placement(), cost, plan);
    if (!added && cost < place->second.first) place->second = {cost, plan};
  }

  void attempt(Plans& found, double inputs, const ia::Operator& op, const Plan& logical) const {
    try {
      const ia::Plan plan = ia::make(op, logical);
      add(found, inputs + own_cost(plan), plan);
    } catch (const PlanError&) {
      // What should meet does not.
    }
  }

  Plans moved(const Plans& found, const Plan& logical) const {
    Plans result;
    const std::vector<Placement> grids = all_grids(logical.frontier(), options_.sites);
    for (const auto& [at, plan] : found) {
      if (plan.second.pending().empty()) add(result, plan.first, plan.second);
      for (const Placement& to : grids) {
        if (to == at) continue;
        const ia::Plan sent = plan.second.shuffle(to);
        double cost = plan.first + own_cost(sent);
        if (sent.pending().empty()) {
          add(result, cost, sent);
          continue;
        }
        std::vector<int> same(static_cast<std::size_t>(sent.type().arity()));
        std::iota(same.begin(), same.end(), 0);
        const ia::Plan whole = ia::make(ia::Aggregate{sent, same, sent.pending()}, logical);
        cost += own_cost(whole);
        add(result, cost, whole);
      }
    }
    return result;
  }

  const OptimizerOptions& options_;
};

}  // namespace

CheapestPlan exhaustive_search(const Plan& plan, const OptimizerOptions& options) {
  Exhaustive search(options);
  std::optional<CheapestPlan> least;
  for (const auto& [at, found] : search.all(plan))
    if (!least || found.first < least->cost) least = {found.first, found.second};
  return least.value();
}

}  // namespace tessera
