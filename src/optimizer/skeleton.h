#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tessera/ia.h"

namespace tessera::optimizer {

/// A physical plan without its moves: what is to be computed where tuples meet, before it is
/// decided where that is. Nodes come before what reads them.
struct Skeleton {
  struct Node {
    ia::Plan plan;  // the operator, with the inputs it had
    std::vector<int> inputs = {};
    /// What computes it already, and lies somewhere; the plan above stands in for it.
    std::optional<ia::Plan> made = {};
  };
  std::vector<Node> nodes;
  std::vector<int> roots;
  int sites = 1;
};

/// Leaves out broadcasts and shuffles, and the second of two aggregations around a shuffle.
Skeleton skeleton_of(const std::vector<ia::Plan>& plans);

/// How many nodes read each one; being a result counts as one.
std::vector<int> count_readers(const Skeleton& skeleton);

}  // namespace tessera::optimizer
