#pragma once

#include <string>
#include <unordered_map>

#include "tessera/plan.h"

namespace tessera::ia {

/// Finds out which nodes of TRA plans compute the same: the same operator, with the same
/// parameters, of inputs that compute the same. Nodes with functions that cannot be looked into
/// are only the same as themselves.
class CommonNodes {
 public:
  /// The first node seen that computes what this one does; its inputs were asked for before it.
  const tessera::Plan& canonical(const tessera::Plan& plan);

 private:
  std::unordered_map<std::string, tessera::Plan> by_signature_;
  std::unordered_map<const tessera::Plan::Node*, tessera::Plan> found_;
};

}  // namespace tessera::ia
