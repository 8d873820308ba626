#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "optimizer/algorithms.h"
#include "optimizer/search.h"
#include "optimizer/simplify.h"
#include "optimizer/skeleton.h"
#include "tessera/optimizer.h"

namespace tessera {

using namespace optimizer;

namespace {

const ia::Join* join_of(const Skeleton& skeleton, int node) {
  return std::get_if<ia::Join>(&ia::operator_of(skeleton.nodes[node].plan));
}

/// Leaves out the placements of joins whose algorithm is disabled.
Search::Allowed allowed_by(const Skeleton& skeleton, const std::set<std::string>& disabled) {
  if (disabled.empty()) return {};
  return [&skeleton, &disabled](int node, const Placement& at) {
    return !disabled.contains(algorithm_of(*join_of(skeleton, node), at).rule);
  };
}

/// The join with the most floats in its inputs and its result: where the choice matters most.
int costliest_join(const Skeleton& skeleton) {
  int found = -1;
  double most = -1;
  for (std::size_t v = 0; v < skeleton.nodes.size(); ++v) {
    if (join_of(skeleton, static_cast<int>(v)) == nullptr) continue;
    double floats = 0;
    for (int input : skeleton.nodes[v].inputs) {
      const RelationType& type = skeleton.nodes[input].plan.type();
      double tuple = 0;
      for (const Column& column : type.columns)
        tuple += static_cast<double>(column.type.shape.elements());
      for (std::int64_t extent : type.frontier) tuple *= static_cast<double>(extent);
      floats += tuple;
    }
    if (floats > most) {
      most = floats;
      found = static_cast<int>(v);
    }
  }
  return found;
}

std::string why_not(const PlanCost& other, const PlanCost& chosen, Objective objective) {
  if (other.value(objective) <= chosen.value(objective) * (1 + 1e-9)) return "costs the same";
  std::vector<std::string> reasons;
  const double moved = other.total.floats_moved, less = chosen.total.floats_moved;
  if (objective == Objective::published)
    return fmt::format("{:.3g} floats by the published cost instead of {:.3g}",
                       other.total.published, chosen.total.published);
  if (moved > less * 1.001)
    reasons.push_back(less > 0 ? fmt::format("moves {:.3g} times the floats", moved / less)
                               : std::string("moves floats where nothing needs to move"));
  double busy = 0, least = 0;
  for (const OperatorCost& own : other.operators)
    if (own.floats_moved == 0) busy += own.seconds;
  for (const OperatorCost& own : chosen.operators)
    if (own.floats_moved == 0) least += own.seconds;
  if (busy > least * 1.001)
    reasons.push_back(fmt::format("keeps the busiest site computing {:.4g} times as long",
                                  least > 0 ? busy / least : 0));
  if (reasons.empty())
    reasons.push_back(fmt::format("loads one site with {:.3g} floats instead of {:.3g}",
                                  other.total.most_loaded, chosen.total.most_loaded));
  return fmt::format("{}", fmt::join(reasons, " and "));
}

/// What the plan would cost if its costliest join had to run by each of the named algorithms.
void find_alternatives(const Skeleton& skeleton, const OptimizerOptions& options, int join,
                       OptimizedPlan& result) {
  for (const Algorithm& algorithm : join_algorithms()) {
    if (algorithm.name == result.algorithm) continue;
    if (options.disabled.contains(algorithm.rule)) {
      result.alternatives.push_back({algorithm.name, std::nullopt, "it is disabled"});
      continue;
    }
    Search search(skeleton, options, [&](int node, const Placement& at) {
      const std::string& rule = algorithm_of(*join_of(skeleton, node), at).rule;
      return node == join ? rule == algorithm.rule : !options.disabled.contains(rule);
    });
    const std::optional<std::vector<ia::Plan>> plan = search.run();
    if (!plan) {
      result.alternatives.push_back(
          {algorithm.name, std::nullopt, "the keys leave nothing to split that way"});
      continue;
    }
    const PlanCost cost = cost_of(*plan, options.machine);
    result.alternatives.push_back(
        {algorithm.name, cost, why_not(cost, result.cost, options.objective)});
  }
}

}  // namespace

std::vector<std::string> known_rules() {
  std::vector<std::string> names = simplifying_rules();
  names.emplace_back("aggregate_twice");
  for (const Algorithm& algorithm : join_algorithms()) names.push_back(algorithm.rule);
  return names;
}

OptimizedPlan optimize(const Plan& plan, const OptimizerOptions& options) {
  return optimize(std::vector<Plan>{plan}, options);
}

OptimizedPlan optimize(const std::vector<Plan>& plans, const OptimizerOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  TESSERA_REQUIRE(PlanError, options.sites >= 1 && options.sites <= max_sites,
                  "a plan for {} sites; there may be 1 to {}", options.sites, max_sites);
  const ia::PlaceInput dealt = ia::dealt_out(options.sites);
  TESSERA_REQUIRE(PlanError, !plans.empty(), "there is nothing to plan");
  const std::vector<std::string> known = known_rules();
  for (const std::string& name : options.disabled)
    TESSERA_REQUIRE(PlanError, std::find(known.begin(), known.end(), name) != known.end(),
                    "there is no rule {} to disable; there are {}", name, fmt::join(known, ", "));
  const std::vector<ia::Plan> translated = ia::translate(plans, [&](const Plan& input) {
    const std::optional<Placement> placed = options.placed ? options.placed(input) : std::nullopt;
    return placed ? *placed : dealt(input);
  });
  const Simplified simplified = simplify(translated, options.disabled);
  const Skeleton skeleton = skeleton_of(simplified.plans);
  Search search(skeleton, options, allowed_by(skeleton, options.disabled));
  const std::optional<std::vector<ia::Plan>> found = search.run();
  TESSERA_REQUIRE(PlanError, found.has_value() || options.disabled.empty(),
                  "with what is disabled ({}) no plan is left", fmt::join(options.disabled, ", "));
  TESSERA_INVARIANT(found.has_value(), "no placement was found for\n{}", plans.front().explain());
  OptimizedPlan result{*found, cost_of(*found, options.machine), options.objective};
  result.rules = simplified.rules;
  result.planning_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const int join = costliest_join(skeleton);
  if (join >= 0 && options.sites > 1) {
    if (const auto at = search.computed_at(join))
      result.algorithm = algorithm_of(*join_of(skeleton, join), *at).name;
    if (options.alternatives) find_alternatives(skeleton, options, join, result);
  }
  return result;
}

}  // namespace tessera
