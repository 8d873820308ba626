#pragma once

#include <string>
#include <vector>

#include "tessera/ia.h"

namespace tessera {

/// The operators of a physical plan, each as a line, what reads before what is read.
inline std::vector<std::string> lines_of(const ia::Plan& plan) {
  std::vector<std::string> result;
  for (const ia::Plan& node : ia::in_order(plan)) result.insert(result.begin(), describe(node));
  return result;
}

}  // namespace tessera
