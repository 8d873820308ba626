#pragma once

#include "tessera/optimizer.h"

namespace tessera {

/// The cheapest, by the objective, of all physical plans of a TRA plan in which every relation
/// lies on some grid: any number of axes in any order, each of any extent, on any component or of
/// copies; and in which every result may be moved to any such grid once. Inputs are to be placed.
/// For trees of a few operators on a few sites only.
struct CheapestPlan {
  double cost;
  ia::Plan plan;
};
CheapestPlan exhaustive_search(const Plan& plan, const OptimizerOptions& options);

}  // namespace tessera
