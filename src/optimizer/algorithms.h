#pragma once

#include <string>
#include <vector>

#include "tessera/ia.h"

namespace tessera::optimizer {

/// A named way to bring the two sides of a join together.
struct Algorithm {
  std::string rule;  // by which it is disabled: "broadcast_left"
  std::string name;  // as EXPLAIN says it: "broadcast left (BMM)"
  friend bool operator==(const Algorithm&, const Algorithm&) = default;
};
const std::vector<Algorithm>& join_algorithms();

/// What computing a join at this placement is called: it follows from which components of the
/// join's key its axes split.
const Algorithm& algorithm_of(const ia::Join& join, const Placement& at);

}  // namespace tessera::optimizer
