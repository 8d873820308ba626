#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "optimizer/frames/graph.h"

namespace tessera::frames {

/// How many operators a frame may have.
struct Limits {
  std::int32_t min_size = 1;
  std::int32_t max_size = 1;
};

/// A plan's operators in frames that are executed one after the other: frame 0 first.
struct Cut {
  std::vector<std::int32_t> frame_of;  // by operator
  std::int32_t frames = 0;
  double expected_breakers = 0;  // the sum of the probabilities of edges between frames
};

/// Divides a plan into frames so that few pipelines are expected to break that would not break if
/// the whole plan were optimized as one (section 4.4 of the paper). Guaranteed:
///  - an operator's frame is not before those of its producers, and no frame is empty;
///  - no frame is larger than max_size;
///  - none is smaller than min_size, if any cut into such frames exists. It does unless
///    min_size * ceil(n / max_size) > n; then none is smaller than floor(n / ceil(n / max_size)),
///    which is the most that can be had;
///  - the result depends on the arguments alone: it is the same in all processes of a cluster.
/// That the sum is the least is not: the problem is NP-hard. Takes time close to linear in
/// operators and edges. Interrupted if it is to stop before it is done.
Cut cut(const OperatorGraph& graph, Limits limits, const std::stop_token& stop = {});

/// The least size that frames of so many operators can all have: see above.
std::int32_t least_size(std::int64_t operators, Limits limits);

/// The sum of the probabilities of the edges between different frames.
double expected_breakers(const OperatorGraph& graph, const std::vector<std::int32_t>& frame_of);

}  // namespace tessera::frames
