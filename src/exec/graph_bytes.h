#pragma once

#include "base/packing.h"
#include "exec/task_graph.h"

namespace tessera::exec {

/// Writes a graph, for a reader who has the plans that it was made of.
void put(PackedWriter& out, const TaskGraph& graph);

/// Reads it back. IoError unless it is one of these plans: every task is an operator's of theirs,
/// and reads what is given or what an earlier task makes.
TaskGraph read_graph(PackedReader& in, const std::vector<ia::Plan>& plans);

}  // namespace tessera::exec
