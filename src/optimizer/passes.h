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
  Placed placed = {};
  std::vector<PassUse> passes = {};
};

/// A step on the way from logical plans to physical ones.
struct Pass {
  const char* name;
  void (*apply)(Planning&);
  bool may_be_disabled;
};

/// All of them, in order.
const std::vector<Pass>& passes();

/// Does the work of a pass: it is timed, and what it made of the plans is verified. The pass that
/// makes tasks of them, which stands above the optimizer, is taken by this too.
void take_pass(Planning& planning, const char* name, const std::function<void()>& work);

/// Takes plans through all passes that are not disabled. What each made is verified.
Planning planned(const std::vector<Plan>& plans, const OptimizerOptions& options);
/// What it came to, with the costs and, if the options ask for them, the alternatives.
OptimizedPlan with_costs(const Planning& planning);

}  // namespace tessera::optimizer
