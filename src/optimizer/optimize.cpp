#include <algorithm>
#include <cctype>

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

std::set<std::string> optimizer::as_known_rules(const std::set<std::string>& names,
                                                const std::vector<PassInfo>& passes) {
  const auto is_same = [](const std::string& a, const std::string& b) {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
  };
  if (names.empty()) return {};
  const std::vector<std::string> known = known_rules();
  std::set<std::string> found;
  for (const std::string& name : names) {
    for (const PassInfo& pass : passes)
      TESSERA_REQUIRE(PlanError, pass.may_be_disabled || !is_same(pass.name, name),
                      "pass \"{}\" cannot be disabled", pass.name);
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&](const std::string& one) { return is_same(one, name); });
    TESSERA_REQUIRE(PlanError, same != known.end(), "rule or pass \"{}\" not found; {}", name,
                    instead_of(name, known));
    found.insert(*same);
  }
  return found;
}

std::set<std::string> as_known_rules(const std::set<std::string>& names) {
  std::vector<PassInfo> infos;
  for (const Pass& pass : passes()) infos.push_back(pass.info);
  return optimizer::as_known_rules(names, infos);
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
