#pragma once

#include <vector>

#include "tessera/ia.h"

namespace tessera::optimizer {

/// What the components of the join's own key are called on each side; -1 where they are not there.
struct Components {
  std::vector<int> left, right;
};
Components components_of(const ia::Join& join);

/// The join with each side copied along the components that only the other one has, and the copies
/// shuffled to where their pairs are to be. This serves any placement of the join's key.
ia::Join join_of_copies(const ia::Join& join, const Placement& to);

}  // namespace tessera::optimizer
