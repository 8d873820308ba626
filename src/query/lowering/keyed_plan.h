#pragma once

#include "tessera/plan.h"

namespace tessera::query {

/// The component that an expression is, if it is just one.
std::optional<int> component_of(const KeyExpr& expression, int arity);

/// A plan whose key has a component for each of these expressions, and which they are.
struct KeyedPlan {
  Plan plan;
  std::vector<int> components;
  int added = 0;  // components at the end of the key
};

/// None if a component might be negative, unless rows where it is can be left out.
std::optional<KeyedPlan> with_components(const Plan& plan, const std::vector<KeyExpr>& expressions,
                                         bool leave_out_negative);

}  // namespace tessera::query
