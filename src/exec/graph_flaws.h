#pragma once

#include "exec/task_graph.h"

namespace tessera::exec {

/// Whether a graph is what its plans come to, as far as that shows: every task has the inputs of
/// its kind, an operator that has such tasks, and is at one site with what it reads; each value is
/// made once, and before it is read. The numbers in it must be in range.
bool is_sound(const TaskGraph& graph);

}  // namespace tessera::exec
