#pragma once

#include <vector>

#include "optimizer/frames/cut.h"
#include "optimizer/frames/noise.h"

namespace tessera::frames {

/// A graph in which pairs of operators have become one each.
struct Coarse {
  OperatorGraph graph;
  std::vector<std::int32_t> coarse_of;  // by operator of the finer graph
};

/// Joins operators with likely edges between them in pairs of at most `max_weight`, without making
/// a cycle.
Coarse coarsen(const OperatorGraph& graph, std::int32_t max_weight, Noise& noise);

/// The same frames for the operators that coarse ones stand for.
Cut project(const Cut& cut, const Coarse& coarse);

}  // namespace tessera::frames
