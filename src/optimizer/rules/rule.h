#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/ia.h"

namespace tessera::optimizer {

/// What became of a plan under a rule: the new plan, or why the rule does not apply to its root.
struct Rewrite {
  std::optional<ia::Plan> plan = {};
  std::string why_not = {};

  Rewrite(ia::Plan rewritten) : plan(std::move(rewritten)) {}  // NOLINT: on purpose
  static Rewrite no(std::string why) { return Rewrite(std::move(why)); }
  explicit operator bool() const { return plan.has_value(); }

 private:
  explicit Rewrite(std::string why) : why_not(std::move(why)) {}
};

/// An equivalence of the implementation algebra, applied to the root of a plan from left to right.
/// The result computes the same relation; it may lie elsewhere.
struct Rule {
  std::string name;  // by which it is disabled: "merge_filters"
  std::string law;   // as in the paper: "R1-1. Filter(p) . Filter(q) == Filter(p and q)"
  std::function<Rewrite(const ia::Plan&)> apply;
};

}  // namespace tessera::optimizer
