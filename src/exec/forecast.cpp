#include "exec/forecast.h"

#include <algorithm>
#include <deque>

namespace tessera::exec {
namespace {

/// Goes through the tasks with some of them under way at once. Reads and writes take no time.
class Walk {
 public:
  Walk(const TaskGraph& graph, const Circumstances& under)
      : graph_(graph),
        under_(under),
        residence_(graph, under.mine, under.bytes, under.limit),
        outputs_(graph.values.size(), 0) {
    for (const TaskGraph::Output& output : graph.outputs) ++outputs_[output.value];
  }

  Forecast run() {
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t) {
      const Task& task = graph_.tasks[t];
      if (under_.mine[task.site])
        admit(static_cast<TaskId>(t));
      else if (task.kind == TaskKind::transfer && under_.mine[graph_.values[task.output].site])
        arrive(task.output);
      while (running_.size() > static_cast<std::size_t>(under_.threads)) finish_first();
    }
    while (!running_.empty()) finish_first();
    if (under_.keeps_results)
      for (std::size_t v = 0; v < outputs_.size(); ++v)
        if (outputs_[v] > 0 && !residence_.is_in_memory(static_cast<ValueId>(v)) &&
            is_mine(static_cast<ValueId>(v)))
          result_.read += residence_.bytes(static_cast<ValueId>(v));
    return result_;
  }

 private:
  bool is_mine(ValueId value) const { return under_.mine[graph_.values[value].site]; }

  void hold(std::int64_t bytes) {
    held_ += bytes;
    result_.peak = std::max(result_.peak, held_);
  }

  void carry_out(Residence::Orders& orders) {
    std::vector<TaskId> waiting;
    for (const ValueId value : orders.drop) held_ -= residence_.bytes(value);
    for (const ValueId value : orders.write) {
      result_.written += residence_.bytes(value);
      if (residence_.written(value)) held_ -= residence_.bytes(value);
    }
    for (const ValueId value : orders.read) {
      result_.read += residence_.bytes(value);
      hold(residence_.bytes(value));
      residence_.there(value, -1, waiting);
    }
    orders = {};
  }

  void admit(TaskId task) {
    const std::int64_t need = residence_.need_of(task);
    result_.needed = std::max(result_.needed, need);
    for (Residence::Orders orders;;) {
      const bool soon = running_.size() < static_cast<std::size_t>(under_.threads);
      // One that does not fit at all is let through: the forecast goes on with what there is.
      const bool admitted =
          residence_.admit(need > under_.limit ? held_ - need : held_, soon, orders) == task;
      const bool some = !orders.drop.empty() || !orders.write.empty();
      carry_out(orders);
      if (admitted) break;
      if (some) continue;
      if (running_.empty()) return;
      finish_first();
    }
    running_.push_back(task);
  }

  void make(ValueId value) {
    std::vector<TaskId> waiting;
    hold(residence_.bytes(value));
    residence_.there(value, -1, waiting);
    if (!under_.keeps_results)
      for (int i = 0; i < outputs_[value]; ++i) {
        residence_.storing(value);
        residence_.stored(value);
      }
    if (residence_.is_dead(value)) held_ -= residence_.bytes(value);
  }

  /// Whatever another process sends comes unasked.
  void arrive(ValueId value) {
    make(value);
    Residence::Orders orders;
    residence_.relieve(held_, orders);
    carry_out(orders);
  }

  void finish_first() {
    const Task& task = graph_.tasks[running_.front()];
    if (task.kind != TaskKind::transfer || is_mine(task.output)) make(task.output);
    std::vector<ValueId> read;
    for (const ValueId input : graph_.inputs_of(task))
      if (!residence_.is_dead(input) && std::find(read.begin(), read.end(), input) == read.end())
        read.push_back(input);
    residence_.finished(running_.front());
    for (const ValueId input : read)
      if (residence_.is_dead(input)) held_ -= residence_.bytes(input);
    running_.pop_front();
  }

  const TaskGraph& graph_;
  const Circumstances& under_;
  Residence residence_;
  std::vector<int> outputs_;  // by value: how often it is one
  std::deque<TaskId> running_;
  std::int64_t held_ = 0;
  Forecast result_;
};

}  // namespace

Forecast forecast(const TaskGraph& graph, const Circumstances& under) {
  Forecast result = Walk(graph, under).run();
  std::int64_t results = 0;
  if (under.keeps_results) {
    std::vector<char> seen(graph.values.size(), 0);
    for (const TaskGraph::Output& output : graph.outputs)
      if (!seen[output.value] && under.mine[graph.values[output.value].site]) {
        seen[output.value] = 1;
        results += under.bytes[output.value];
      }
  }
  result.needed = std::max(result.needed, results);
  result.peak = std::max(result.peak, results);
  return result;
}

}  // namespace tessera::exec
