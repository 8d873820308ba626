#include "exec/task_graph.h"

namespace tessera::exec {
namespace {

/// The tasks, inputs before what reads them, depth first from the outputs. Those that no output
/// needs come last: they are run too, for what they move and for the errors that they find.
std::vector<TaskId> depth_first(const TaskGraph& graph) {
  std::vector<TaskId> maker(graph.values.size(), -1);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t)
    maker[graph.tasks[t].output] = static_cast<TaskId>(t);
  std::vector<TaskId> order;
  order.reserve(graph.tasks.size());
  std::vector<char> seen(graph.tasks.size(), 0);
  struct Visit {
    TaskId task;
    std::int32_t next_input;
  };
  std::vector<Visit> path;
  const auto enter = [&](TaskId task) {
    if (task < 0 || seen[task]) return;
    seen[task] = 1;
    path.push_back({task, 0});
  };
  const auto walk_from = [&](TaskId root) {
    for (enter(root); !path.empty();) {
      Visit& visit = path.back();
      const Task& task = graph.tasks[visit.task];
      if (visit.next_input < task.inputs) {
        enter(maker[graph.task_inputs[task.first_input + visit.next_input++]]);
      } else {
        order.push_back(visit.task);
        path.pop_back();
      }
    }
  };
  for (const TaskGraph::Output& output : graph.outputs) walk_from(maker[output.value]);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) walk_from(static_cast<TaskId>(t));
  return order;
}

}  // namespace

void put_in_order(TaskGraph& graph) {
  const std::vector<TaskId> order = depth_first(graph);
  std::vector<Task> tasks;
  std::vector<ValueId> inputs;
  tasks.reserve(order.size());
  inputs.reserve(graph.task_inputs.size());
  for (const TaskId from : order) {
    Task task = graph.tasks[from];
    const auto read = graph.inputs_of(task);
    task.first_input = static_cast<std::int32_t>(inputs.size());
    inputs.insert(inputs.end(), read.begin(), read.end());
    tasks.push_back(task);
  }
  graph.tasks = std::move(tasks);
  graph.task_inputs = std::move(inputs);

  graph.first_reader.assign(graph.values.size() + 1, 0);
  for (const ValueId value : graph.task_inputs) ++graph.first_reader[value + 1];
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    graph.first_reader[v + 1] += graph.first_reader[v];
  graph.readers.resize(graph.task_inputs.size());
  std::vector<std::int32_t> next(graph.first_reader.begin(), graph.first_reader.end() - 1);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t)
    for (const ValueId value : graph.inputs_of(graph.tasks[t]))
      graph.readers[next[value]++] = static_cast<TaskId>(t);
}

}  // namespace tessera::exec
