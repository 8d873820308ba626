#include "exec/forecast.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "base/stop.h"

namespace tessera::exec {
namespace {

/// Goes through the tasks with as many of them under way at once as there may be. Reads and writes
/// take no time, but results stay in memory as long as they may, and so do inputs.
class Walk {
 public:
  Walk(const TaskGraph& graph, const RunSetup& under)
      : graph_(graph),
        under_(under),
        admission_(AdmissionLimits::of(under.threads)),
        residence_(graph, under.mine, under.sizes, under.limit, without_reads(admission_)),
        outputs_(graph.values.size(), 0) {
    for (const TaskGraph::Output& output : graph.outputs) ++outputs_[output.value];
  }

  Forecast run() {
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t) {
      refuse_if_stopped("memory was planned");
      const Task& task = graph_.tasks[t];
      if (under_.mine[task.site])
        admit(static_cast<TaskId>(t));
      else if (task.kind == TaskKind::transfer && under_.mine[graph_.values[task.output].site])
        arrive(task.output);
    }
    while (!running_.empty()) finish_first();
    if (under_.keeps_results)
      bring_results_back();
    else
      copy_sources();
    return result_;
  }

 private:
  /// What is on its way into memory may be there at any time, and its readers able to run.
  static AdmissionLimits without_reads(AdmissionLimits admission) {
    admission.able += admission.reading;
    admission.reading = admission.storing = std::numeric_limits<std::int64_t>::max();
    return admission;
  }

  bool is_mine(ValueId value) const { return under_.mine[graph_.values[value].site]; }

  /// Sources that are results too are copied in the end, by two threads.
  void copy_sources() {
    std::int64_t largest = 0;
    for (const TaskGraph::Given& given : graph_.given) {
      if (outputs_[given.value] == 0 || given.tiles != nullptr || !is_mine(given.value)) continue;
      const std::int64_t bytes = residence_.bytes(given.value);
      result_.read += bytes;
      largest = std::max(largest, bytes);
    }
    const std::int64_t together = std::min(under_.limit, result_.peak + 2 * largest);
    result_.peak = std::max({result_.peak, together, largest});
  }

  void bring_results_back() {
    std::int64_t all = 0;
    for (std::size_t v = 0; v < outputs_.size(); ++v) {
      const auto value = static_cast<ValueId>(v);
      if (outputs_[v] == 0 || !is_mine(value)) continue;
      all += residence_.bytes(value);
      if (!residence_.is_in_memory(value)) result_.read += residence_.bytes(value);
    }
    result_.peak = std::max(result_.peak, all);
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
      held_ += residence_.bytes(value);
      residence_.there(value, -1, waiting);
    }
    orders = {};
  }

  void admit(TaskId task) {
    while (!residence_.wants_more() && !running_.empty()) finish_first();
    for (Residence::Orders orders;;) {
      const bool soon = running_.size() < static_cast<std::size_t>(under_.threads);
      const bool admitted = residence_.admit(held_, soon, orders) == task;
      const bool some = !orders.drop.empty() || !orders.write.empty();
      carry_out(orders);
      if (admitted) break;
      if (some) continue;
      if (!being_stored_.empty()) {
        stored_first();
      } else if (!running_.empty()) {
        finish_first();
      } else {
        // It does not fit at all, as far as is known: the forecast goes on with what there is.
        (void)residence_.admit(-residence_.need_of(task), false, orders);
        carry_out(orders);
        break;
      }
    }
    running_.push_back(task);
    // Tasks that are under way may all have made what they make and not yet let go of what they
    // read; more than the limit is never promised, but to what does not fit.
    result_.peak = std::max(result_.peak, held_ + residence_.promised());
  }

  void make(ValueId value) {
    std::vector<TaskId> able;
    held_ += residence_.bytes(value);
    residence_.there(value, -1, able);
    if (!under_.keeps_results)
      for (int i = 0; i < outputs_[value]; ++i) {
        residence_.storing(value);
        being_stored_.push_back(value);
      }
    while (static_cast<std::int64_t>(being_stored_.size()) > admission_.storing) stored_first();
    if (residence_.is_dead(value) && outputs_[value] == 0) held_ -= residence_.bytes(value);
  }

  void stored_first() {
    const ValueId value = being_stored_.front();
    being_stored_.pop_front();
    residence_.stored(value);
    if (residence_.is_dead(value)) held_ -= residence_.bytes(value);
  }

  /// Whatever another process sends comes unasked.
  void arrive(ValueId value) {
    make(value);
    result_.peak = std::max(result_.peak, held_ + residence_.promised());
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
  const RunSetup& under_;
  const AdmissionLimits admission_;
  Residence residence_;
  std::vector<int> outputs_;  // by value: how often it is one
  std::deque<TaskId> running_;
  std::deque<ValueId> being_stored_;
  std::int64_t held_ = 0;
  Forecast result_;
};

}  // namespace

Forecast forecast(const TaskGraph& graph, const RunSetup& under) {
  return Walk(graph, under).run();
}

}  // namespace tessera::exec
