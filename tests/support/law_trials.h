#pragma once

#include <functional>
#include <string>

#include "optimizer/rules/rule.h"
#include "support/random_physical_plans.h"

namespace tessera {

/// A rule by its name, from all of them.
const optimizer::Rule& rule_named(const std::string& name);

/// A random plan on so many sites to which a rule should apply somewhere. It may throw what users'
/// mistakes throw: then another one is made.
using PlanMaker = std::function<ia::Plan(Random& random, int sites)>;

/// The plan of a logical one, in random_physical's way.
PlanMaker physical(const std::function<Plan(Random&)>& logical);

/// The same plans with another rule applied wherever it applies first.
PlanMaker after_rule(const std::string& name, const PlanMaker& plans);

/// Makes plans of this kind and applies the rule to every node that it applies to, until it has
/// done so `wanted` times, and expects the results to be the same, tile for tile.
void expect_law(const optimizer::Rule& rule, const PlanMaker& shape, int wanted = 600);

/// How often a rule applied to a node of the plan; each time the results are expected to be those
/// of the plan. -1 if the plan itself cannot be run.
int apply_everywhere(const optimizer::Rule& rule, const ia::Plan& plan, const std::string& what);

/// Expects a rule not to apply, for this reason.
void expect_refusal(const optimizer::Rewrite& rewrite, const std::string& why);

}  // namespace tessera
