#pragma once

#include "exec/forecast.h"

namespace tessera::exec {

/// The tasks, inputs before what reads them, depth first from the outputs in order of their keys:
/// few values are alive at once. Those that no output needs come last: they are run too, for what
/// they move and for the errors that they find.
std::vector<TaskId> depth_first(const TaskGraph& graph);

/// Box by box: the outputs whose keys lie in one box are made together, all of them one step
/// further at a time, so that what several of them read is in memory once for all. `box` has an
/// extent for each key component, and is cut to the keys of results of another arity.
std::vector<TaskId> box_by_box(const TaskGraph& graph, const Key& box);

/// Box by box too, but input by input within a box: whatever can be made of a source tile and those
/// before it is made as soon as that is read. So a source that is cut into pieces for many outputs
/// is read once for all of them, though the pieces have to wait.
std::vector<TaskId> input_by_input(const TaskGraph& graph, const Key& box);

/// Numbers the tasks in this order, and lists the readers of the values.
void renumber(TaskGraph& graph, const std::vector<TaskId>& order);
void index_readers(TaskGraph& graph);

/// The order that reads and writes least under a limit, of those above.
struct ChosenOrder {
  Forecast forecast;
  Key box = {};           // empty: depth first
  bool by_input = false;  // within a box
};
/// Numbers the tasks by it, which are depth first so far: that is kept where nothing is gained.
ChosenOrder choose_order(TaskGraph& graph, const RunSetup& under);

}  // namespace tessera::exec
