#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/frames/cut.h"
#include "optimizer/frames/noise.h"

namespace tessera::frames {

/// All operators, each after its producers. Frames are cut out of such orders as consecutive pieces
/// (split.h), so an order is good if operators that should be together are near each other.
using Order = std::vector<std::int32_t>;

/// As near to the order of the operators' numbers as producers allow.
Order by_number(const OperatorGraph& graph);

/// The same by other numbers.
Order by_rank(const OperatorGraph& graph, const std::vector<std::int32_t>& rank);

/// Left to chance.
Order shuffled(const OperatorGraph& graph, Noise& noise);

/// Depth first, so that chains stay together: from the results back through producers, each
/// operator directly after its likeliest producer; or from the inputs forward through consumers.
/// `disorder` from 0 (none) to 1 is how much chance decides instead.
enum class From { results, inputs };
Order depth_first(const OperatorGraph& graph, From from, float disorder, Noise& noise);

/// Grows groups of up to `group` operators, each by the operator that has the most in common with
/// the group: outputs of it that it reads, and consumers that need both.
Order grown(const OperatorGraph& graph, std::int32_t group, float disorder, Noise& noise);

/// The frames of a cut one after the other, inside of each as in `inner`.
Order in_frames(const Cut& cut, const Order& inner);

}  // namespace tessera::frames
