#pragma once

#include <set>
#include <string>
#include <vector>

#include "optimizer/rules/rule.h"
#include "tessera/optimizer.h"

namespace tessera::optimizer {

/// A rule, and whether it pays at a plan. It is tried only where it does.
struct PayingRule {
  Rule rule;
  bool (*pays)(const ia::Plan& plan);
};
/// In this order at each operator.
const std::vector<PayingRule>& rules_that_pay();

struct Simplified {
  std::vector<ia::Plan> plans;
  std::vector<RuleUse> rules;  // of all that were tried
};

/// Plans with the rules that always pay applied until none applies any more: filters come first,
/// maps become part of what they follow, and what is folded is made smaller before.
Simplified simplify(const std::vector<ia::Plan>& plans, const std::set<std::string>& disabled = {});

/// Their names.
std::vector<std::string> simplifying_rules();

}  // namespace tessera::optimizer
