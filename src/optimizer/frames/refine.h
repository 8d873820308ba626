#pragma once

#include "optimizer/frames/cut.h"

namespace tessera::frames {

/// Moves single operators between frames while the expected breakers become fewer, in the way of
/// Fiduccia and Mattheyses: in a pass every operator moves at most once, the best move first even
/// if it is for the worse, and what comes after the best state is taken back. A move goes to a
/// frame between those of the operator's producers and consumers, so that the frames' order stands.
/// On the way, frames may be out of limits by `slack`, with which operators can change places; at
/// the end none is. Returns how much was gained.
double refine(const OperatorGraph& graph, Cut& cut, Limits limits, std::int32_t slack);

}  // namespace tessera::frames
