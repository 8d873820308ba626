#pragma once

#include <unordered_map>

#include "tessera/ia.h"

namespace tessera::ia {

struct Plan::Node {
  Operator op;
  tessera::Plan logical;
  Placement placement;
  RelationType type;
  std::vector<KernelCall> pending = {};

  Node(Operator root, tessera::Plan what) : op(std::move(root)), logical(std::move(what)) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// Releases the inputs one after the other: a chain of destructors would be as deep as the plan.
  ~Node();
};

/// An input that has the type and the places of a plan, for who plans on with its result.
Plan stand_in(const Plan& made);

/// How many operators read each one's result, and whoever asks for the roots.
using ReaderCounts = std::unordered_map<const Plan::Node*, int>;
ReaderCounts count_readers(const std::vector<Plan>& roots);

}  // namespace tessera::ia
