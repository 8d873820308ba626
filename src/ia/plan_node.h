#pragma once

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

}  // namespace tessera::ia
