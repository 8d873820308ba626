#pragma once

#include <optional>

#include "optimizer/frames/cut.h"
#include "optimizer/frames/noise.h"

namespace tessera::frames {

/// A cut by way of coarser graphs: an order of the coarsest one is split, and the frames are
/// refined on the way back to the operators themselves, where whole groups have moved before.
std::optional<Cut> multilevel(const OperatorGraph& graph, Limits limits, float disorder,
                              Noise& noise);

/// Looks for a better cut than `best` by so many attempts, each from another order of the operators
/// or from another way to coarsen the graph, or from the best one so far with its frames' contents
/// in another order.
Cut search(const OperatorGraph& graph, Limits limits, Cut best, int attempts, Noise& noise,
           const std::stop_token& stop = {});

/// Numbers the frames anew, in another order in which they can be executed, so that frames with
/// edges between them become neighbours.
void reorder_frames(const OperatorGraph& graph, Cut& cut, float disorder, Noise& noise);

}  // namespace tessera::frames
