#pragma once

#include <functional>

#include "optimizer/place.h"

namespace tessera::optimizer {

/// A physical plan in the making.
struct Planning {
  std::vector<Plan> logical;
  OptimizerOptions options;
  std::vector<ia::Plan> plans = {};
  std::vector<RuleUse> rules = {};
  PlacedPlans placed = {};
  std::vector<PassUse> passes = {};
  std::map<std::string, int> refusals = {};  // of the pass that is being taken
};

/// A step on the way from logical plans to physical ones.
struct Pass {
  PassInfo info;
  void (*apply)(Planning&);
};

/// All of them, in order.
const std::vector<Pass>& passes();

/// tessera::as_known_rules where there are these passes.
std::set<std::string> as_known_rules(const std::set<std::string>& names,
                                     const std::vector<PassInfo>& passes);

/// Does the work of a pass, and notes how long it took.
void take_pass(std::vector<PassUse>& uses, const PassInfo& pass, const std::function<void()>& work);

/// Takes plans through all passes that are not disabled. What each made is verified.
Planning planned(const std::vector<Plan>& plans, const OptimizerOptions& options);
/// The same for plans that are physical already: only the passes behind this one are taken.
Planning finished(const std::vector<ia::Plan>& plans, const OptimizerOptions& options,
                  std::string_view behind);
/// What it came to, with the costs and, if the options ask for them, the alternatives.
OptimizedPlan with_costs(const Planning& planning);

}  // namespace tessera::optimizer
