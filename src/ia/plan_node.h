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
};

}  // namespace tessera::ia
