#pragma once

#include <set>
#include <string>
#include <vector>

#include "tessera/optimizer.h"

namespace tessera::optimizer {

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
