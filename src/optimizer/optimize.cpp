#include <algorithm>

#include "base/check.h"
#include "base/names_text.h"
#include "optimizer/algorithms.h"
#include "optimizer/cost.h"
#include "optimizer/passes.h"
#include "optimizer/simplify.h"
#include "tessera/optimizer.h"

namespace tessera {

using namespace optimizer;

std::vector<std::string> known_rules() {
  std::vector<std::string> names = simplifying_rules();
  names.emplace_back("aggregate_twice");
  for (const Algorithm& algorithm : join_algorithms()) names.push_back(algorithm.rule);
  for (const Pass& pass : passes())
    if (pass.info.may_be_disabled) names.push_back(pass.info.name);
  return names;
}

void require_known_rules(const std::set<std::string>& names) {
  if (names.empty()) return;
  const std::vector<std::string> known = known_rules();
  for (const std::string& name : names)
    TESSERA_REQUIRE(PlanError, std::find(known.begin(), known.end(), name) != known.end(),
                    "cannot disable rule \"{}\": not found; {}", name, instead_of(name, known));
}

OptimizedPlan optimize(const Plan& plan, const OptimizerOptions& options) {
  return optimize(std::vector<Plan>{plan}, options);
}

OptimizedPlan optimize(const std::vector<Plan>& plans, const OptimizerOptions& options) {
  return with_costs(planned(plans, options));
}

PlanCost optimizer::cost_if_listed(const std::vector<ia::Plan>& plans, const Machine& machine) {
  try {
    return cost_of(plans, machine);
  } catch (const PlanError&) {
    PlanCost unknown;
    unknown.operators.resize(ia::in_order(plans).size());
    unknown.exact = false;
    return unknown;
  }
}

OptimizedPlan optimizer::with_costs(const Planning& planning) {
  const OptimizerOptions& options = planning.options;
  OptimizedPlan result{planning.plans, cost_if_listed(planning.plans, options.machine),
                       options.objective};
  result.algorithm = planning.placed.algorithm;
  result.rules = planning.rules;
  result.passes = planning.passes;
  for (const PassUse& pass : result.passes) result.planning_seconds += pass.seconds;
  if (options.alternatives)
    result.alternatives = alternatives_to(planning.placed, options, result.cost,
                                          [&](const std::vector<ia::Plan>& placed) {
                                            return finished(placed, options, "place").plans;
                                          });
  return result;
}

}  // namespace tessera
