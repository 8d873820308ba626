#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "optimizer/rules/rule.h"
#include "tessera/optimizer.h"

namespace tessera::optimizer {

/// A rule, the operators that it is for, and why it would not pay at one of them that it applies
/// to: null if it does. It is tried only where it pays.
struct PayingRule {
  Rule rule;
  bool (*is_for)(const ia::Plan& plan);
  const char* (*why_not)(const ia::Plan& plan);
};
/// In this order at each operator.
const std::vector<PayingRule>& rules_that_pay();

struct Simplified {
  std::vector<ia::Plan> plans;
  std::vector<RuleUse> rules;                // of all that were tried
  std::map<std::string, int> refusals = {};  // why operators were left as they were, and how often
};

/// Plans with the rules that always pay applied until none applies any more: filters come first,
/// maps become part of what they follow, and what is folded is made smaller before.
Simplified simplify(const std::vector<ia::Plan>& plans, const std::set<std::string>& disabled = {});

/// Their names.
std::vector<std::string> simplifying_rules();

}  // namespace tessera::optimizer
