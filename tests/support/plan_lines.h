#pragma once

#include <string>
#include <vector>

#include "tessera/ia.h"

namespace tessera {

/// The operators of a plan, a line each, the root first.
inline std::vector<std::string> lines(const ia::Plan& plan) {
  std::vector<std::string> result;
  for (const ia::Plan& node : ia::in_order(plan)) result.insert(result.begin(), describe(node));
  return result;
}

}  // namespace tessera
