#pragma once

#include "optimizer/frames/cut.h"
#include "optimizer/frames/noise.h"

namespace tessera::frames {

/// How a cut is improved piece by piece.
struct Effort {
  std::int32_t window = 3;  // neighbouring frames that are cut anew together
  int attempts = 8;         // at each window
  std::stop_token stop = {};
};

/// Cuts every few neighbouring frames anew, as a graph of its own. Returns how much was gained.
double improve_windows(const OperatorGraph& graph, Cut& cut, Limits limits, const Effort& effort,
                       Noise& noise);

}  // namespace tessera::frames
