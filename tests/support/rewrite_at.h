#pragma once

#include <string>
#include <vector>

#include "optimizer/rules/rule.h"

namespace tessera {

/// The plan with a rule applied at one of its nodes, `at`, and everything above it rebuilt.
optimizer::Rewrite rewrite_at(const ia::Plan& root, const ia::Plan& at,
                              const optimizer::Rule& rule);

/// The same in several results, which go on sharing what they have in common.
struct Rewrites {
  std::vector<ia::Plan> plans = {};  // none: the rule does not apply
  std::string why_not = {};
  explicit operator bool() const { return !plans.empty(); }
};
Rewrites rewrite_at(const std::vector<ia::Plan>& roots, const ia::Plan& at,
                    const optimizer::Rule& rule);

}  // namespace tessera
