#pragma once

#include "exec/task_graph.h"
#include "tra/tuple_set.h"

namespace tessera::exec {

/// The keys and types of the results that a graph computes.
std::vector<TupleSet<TileType>> results_to_come(const TaskGraph& graph,
                                                const std::vector<Plan>& plans, Holes holes);

}  // namespace tessera::exec
