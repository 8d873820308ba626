#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tessera/ia.h"

namespace tessera::optimizer {

/// A physical plan without its moves: what is to be computed where tuples meet, before it is
/// decided where that is. Nodes come before what reads them; the last one is the result.
struct Skeleton {
  struct Node {
    ia::Plan plan;  // the operator, with the inputs it had
    std::vector<int> inputs = {};
    int readers = 0;
  };
  std::vector<Node> nodes;
  int sites = 1;
  int root() const { return static_cast<int>(nodes.size()) - 1; }
};

/// Leaves out broadcasts and shuffles, and the second of two aggregations around a shuffle.
Skeleton skeleton_of(const ia::Plan& plan);

}  // namespace tessera::optimizer
