#pragma once

#include "optimizer/frames/graph.h"
#include "support/random_tiles.h"

namespace tessera {

enum class GraphShape { chains, layers, tree, series_parallel, sparse, dense };
inline constexpr int graph_shapes = 6;

/// A graph without cycles of so many operators, whose numbers are in no particular order. Its
/// probabilities are of a few values, as of a plan's kinds of operators, or of any.
frames::OperatorGraph random_graph(Random& random, GraphShape shape, std::int32_t operators);

}  // namespace tessera
