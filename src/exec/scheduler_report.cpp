#include <unordered_map>

#include "exec/scheduler.h"

// What a scheduler tells of a run, under way and afterwards.

namespace tessera::exec {
namespace {

/// The kernel of an operator that calls just one.
std::string only_kernel(const ia::Plan& plan) {
  const ia::Operator& op = operator_of(plan);
  ia::Pipeline stages;
  const ia::Join* join = ia::join_of(op);
  if (join != nullptr) stages = join->projection;
  if (const auto* map = std::get_if<ia::Map>(&op))
    if (map->branches.size() == 1) stages = map->branches.front().arrays;
  if (const auto* aggregate = std::get_if<ia::Aggregate>(&op))
    return aggregate->kernels.size() == 1 && aggregate->finish.empty()
               ? aggregate->kernels.front().kernel().name
               : "";
  return stages.size() == 1 && stages.front().size() == 1
             ? stages.front().front().kernel.kernel().name
             : "";
}

}  // namespace

Progress Scheduler::progress() const {
  Progress now = meter_.progress();
  now.floats_moved = transport_.floats_moved();
  now.bytes_live = ledger_->live();
  now.bytes_read = bytes_read_;
  now.bytes_spilled = bytes_spilled_;
  return now;
}

/// Tuples and bytes of what an operator yields; of a move, those that crossed. Small tasks would be
/// slower for it, so that it is done for those who ask.
void Scheduler::count_result(const Task& task, const std::vector<Tile>& tiles) {
  if (!options_.ended || !graph_.makes_result(task)) return;
  std::int64_t bytes = 0, floats = 0;
  for (const Tile& tile : tiles) {
    bytes += tile.bytes();
    floats += tile.elements();
  }
  Taken& own = taken_[task.op];
  own.tuples.fetch_add(1, std::memory_order_relaxed);
  own.bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (task.kind == TaskKind::transfer) own.floats.fetch_add(floats, std::memory_order_relaxed);
}

void Scheduler::report(RunReport& report, const std::vector<std::int64_t>& expected) const {
  report.flops = meter_.flops();
  report.tasks = meter_.tasks();
  report.peak_bytes = ledger_->peak();
  report.bytes_read = bytes_read_;
  report.bytes_spilled = bytes_spilled_;
  report.seconds = meter_.seconds();
  report.operators = operators(expected);
}

std::vector<OperatorReport> Scheduler::operators(const std::vector<std::int64_t>& expected) const {
  std::vector<OperatorReport> all(graph_.steps.size());
  for (const Task& task : graph_.tasks) {
    if (!is_mine(task.site)) continue;
    OperatorReport& own = all[static_cast<std::size_t>(task.op)];
    ++own.tasks;
    own.flops += graph_.costs[task.cost].flops;
    own.bytes += graph_.costs[task.cost].bytes;
  }
  std::unordered_map<const ia::Plan::Node*, int> places;
  for (const ia::Plan& plan : ia::in_order(graph_.plans))
    places.emplace(&plan.node(), static_cast<int>(places.size()));
  for (std::size_t op = 0; op < all.size(); ++op) {
    OperatorReport& own = all[op];
    const Taken& taken = taken_[op];
    own.description = describe_step(graph_.steps[op]);
    own.kernel = only_kernel(graph_.steps[op]);
    own.seconds = static_cast<double>(taken.nanoseconds) * 1e-9;
    own.tuples = taken.tuples;
    own.result_bytes = taken.bytes;
    own.floats_moved = static_cast<double>(taken.floats);
    if (!expected.empty()) own.expected_bytes = expected[op];
    own.node = places.at(&graph_.steps[op].node());
  }
  return all;
}

}  // namespace tessera::exec
