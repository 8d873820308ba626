#include "exec/task_order.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/stop.h"

namespace tessera::exec {
namespace {

std::vector<TaskId> makers_of(const TaskGraph& graph) {
  std::vector<TaskId> maker(graph.values.size(), -1);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t)
    maker[graph.tasks[t].output] = static_cast<TaskId>(t);
  return maker;
}

/// Walks from tasks to those that make their inputs, each once.
class DepthFirst {
 public:
  explicit DepthFirst(const TaskGraph& graph)
      : graph_(graph), maker_(makers_of(graph)), seen_(graph.tasks.size(), 0) {}

  /// Appends a task and all that it needs and that is not there yet, inputs first.
  void from(TaskId root, std::vector<TaskId>& order) {
    for (enter(root); !path_.empty();) {
      Visit& visit = path_.back();
      const Task& task = graph_.tasks[visit.task];
      if (visit.next_input < task.inputs) {
        enter(maker_[graph_.task_inputs[task.first_input + visit.next_input++]]);
      } else {
        refuse_if_stopped("tasks were put in order");
        order.push_back(visit.task);
        path_.pop_back();
      }
    }
  }
  void from_maker(ValueId value, std::vector<TaskId>& order) { from(maker_[value], order); }
  void rest(std::vector<TaskId>& order) {
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t) from(static_cast<TaskId>(t), order);
  }
  TaskId maker(ValueId value) const { return maker_[value]; }

 private:
  struct Visit {
    TaskId task;
    std::int32_t next_input;
  };
  void enter(TaskId task) {
    if (task < 0 || seen_[task]) return;
    seen_[task] = 1;
    path_.push_back({task, 0});
  }

  const TaskGraph& graph_;
  const std::vector<TaskId> maker_;
  std::vector<char> seen_;
  std::vector<Visit> path_;
};

/// The outputs by the box of results that their keys lie in.
std::map<std::pair<std::int32_t, std::vector<std::int64_t>>, std::vector<ValueId>> boxes_of(
    const TaskGraph& graph, const Key& box) {
  std::map<std::pair<std::int32_t, std::vector<std::int64_t>>, std::vector<ValueId>> boxes;
  for (const TaskGraph::Output& output : graph.outputs) {
    std::vector<std::int64_t> at;
    const auto key = graph.keys.components(output.key);
    for (std::size_t i = 0; i < key.size(); ++i)
      at.push_back(i < box.size() ? key[i] / box[i] : key[i]);
    boxes[{output.result, at}].push_back(output.value);
  }
  return boxes;
}

}  // namespace

std::vector<TaskId> depth_first(const TaskGraph& graph) {
  std::vector<TaskId> order;
  order.reserve(graph.tasks.size());
  DepthFirst walk(graph);
  for (const TaskGraph::Output& output : graph.outputs) walk.from_maker(output.value, order);
  walk.rest(order);
  return order;
}

std::vector<TaskId> box_by_box(const TaskGraph& graph, const Key& box) {
  std::vector<TaskId> order;
  order.reserve(graph.tasks.size());
  // By task: how many steps of its box come before it, and how many may: a task is done as late as
  // its readers allow, so that what it makes does not wait for them.
  std::vector<std::int32_t> early(graph.tasks.size(), 0);
  constexpr std::int32_t nobody_reads = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> late(graph.tasks.size(), nobody_reads);
  DepthFirst walk(graph);
  for (const auto& [at, outputs] : boxes_of(graph, box)) {
    const auto begin = static_cast<std::ptrdiff_t>(order.size());
    for (const ValueId output : outputs) walk.from_maker(output, order);
    const auto each_maker = [&](TaskId task, const auto& visit) {
      for (const ValueId input : graph.inputs_of(graph.tasks[task]))
        if (const TaskId maker = walk.maker(input); maker >= 0) visit(maker);
    };
    for (auto t = order.begin() + begin; t != order.end(); ++t)
      each_maker(*t, [&](TaskId maker) { early[*t] = std::max(early[*t], early[maker] + 1); });
    for (auto t = order.end(); t != order.begin() + begin;) {
      --t;
      if (late[*t] == nobody_reads) late[*t] = early[*t];
      each_maker(*t, [&](TaskId maker) { late[maker] = std::min(late[maker], late[*t] - 1); });
    }
    std::stable_sort(order.begin() + begin, order.end(),
                     [&](TaskId a, TaskId b) { return late[a] < late[b]; });
    refuse_if_stopped("tasks were put in order");
  }
  walk.rest(order);
  return order;
}

std::vector<TaskId> input_by_input(const TaskGraph& graph, const Key& box) {
  std::vector<TaskId> order;
  order.reserve(graph.tasks.size());
  DepthFirst walk(graph);
  std::vector<std::int32_t> missing(graph.tasks.size(), 0);  // inputs that are not there yet
  std::vector<char> is_next(graph.tasks.size(), 0);          // in this box
  std::vector<char> is_there(graph.values.size(), 0);
  for (const auto& [at, outputs] : boxes_of(graph, box)) {
    refuse_if_stopped("tasks were put in order");
    std::vector<TaskId> tasks;
    for (const ValueId output : outputs) walk.from_maker(output, tasks);
    for (const TaskId task : tasks)  // each box reads its sources anew
      for (const ValueId input : graph.inputs_of(graph.tasks[task]))
        if (walk.maker(input) < 0) is_there[input] = 0;
    for (const TaskId task : tasks) {
      is_next[task] = 1;
      for (const ValueId input : graph.inputs_of(graph.tasks[task]))
        if (!is_there[input]) ++missing[task];
    }
    std::vector<TaskId> able;  // the last one is taken first, with all that follows from it
    const auto arrive = [&](ValueId value) {
      is_there[value] = 1;
      const auto readers = graph.readers_of(value);
      for (auto reader = readers.rbegin(); reader != readers.rend(); ++reader)
        if (is_next[*reader] && --missing[*reader] == 0) able.push_back(*reader);
    };
    const auto make_what_can_be = [&] {
      while (!able.empty()) {
        const TaskId task = able.back();
        able.pop_back();
        is_next[task] = 0;
        order.push_back(task);
        arrive(graph.tasks[task].output);
      }
    };
    for (const TaskId task : tasks) {
      if (is_next[task] && missing[task] == 0) able.push_back(task);
      make_what_can_be();
      for (const ValueId input : graph.inputs_of(graph.tasks[task]))
        if (walk.maker(input) < 0 && !is_there[input]) {
          arrive(input);
          make_what_can_be();
        }
    }
  }
  walk.rest(order);
  return order;
}

void renumber(TaskGraph& graph, const std::vector<TaskId>& order) {
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
  index_readers(graph);
}

void index_readers(TaskGraph& graph) {
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
