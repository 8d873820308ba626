#pragma once

#include "optimizer/skeleton.h"
#include "tessera/optimizer.h"

namespace tessera::optimizer {

/// Plans whose operators have been given their places.
struct PlacedPlans {
  std::vector<ia::Plan> plans = {};
  std::vector<int> parts = {};  // placed one after the other: how many operators each has
  /// The operators, of a plan of one part, and the costliest join among them, if there is one.
  Skeleton skeleton = {};
  int join = -1;
  std::string algorithm = {};  // how that join is computed
};

/// Decides where each operator works, by the cheapest way of all that are found. A plan of more
/// than `largest_part` operators is placed part by part: each part finds what it reads of earlier
/// ones where these left it.
PlacedPlans place(const std::vector<ia::Plan>& plans, const OptimizerOptions& options,
                  std::size_t largest_part);

/// What a plan becomes in the passes behind this one.
using Finish = std::function<std::vector<ia::Plan>(const std::vector<ia::Plan>&)>;

/// What the plan would cost if its costliest join were computed by each of the other algorithms.
std::vector<Alternative> alternatives_to(const PlacedPlans& placed, const OptimizerOptions& options,
                                         const PlanCost& chosen, const Finish& finish);

}  // namespace tessera::optimizer
