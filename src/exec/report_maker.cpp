#include "exec/report_maker.h"

#include <unordered_map>

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
  const bool one = stages.size() == 1 && stages.front().size() == 1;
  return one && stages.front().front().kernel ? stages.front().front().kernel->kernel().name : "";
}

}  // namespace

ReportMaker::ReportMaker(const TaskGraph& graph)
    : graph_(graph), nanoseconds_(graph.steps.size(), 0) {
  so_far_.operators.resize(graph.steps.size());
  so_far_.sent.assign(static_cast<std::size_t>(graph.sites), 0);
  so_far_.received.assign(static_cast<std::size_t>(graph.sites), 0);
}

/// Tuples and bytes of what an operator yields; of a move, those that crossed.
void ReportMaker::count_task(const RunEvent& event) {
  if (event.failed) return;
  const auto op = static_cast<std::size_t>(event.op);
  const Task& task = graph_.tasks[event.task];
  OperatorReport& own = so_far_.operators[op];
  ++so_far_.tasks;
  ++own.tasks;
  so_far_.flops += event.flops;
  own.flops += event.flops;
  own.bytes += event.work_bytes;
  if (task.kind != TaskKind::transfer) nanoseconds_[op] += event.end - event.begin;
  if (!graph_.makes_result(task)) return;
  ++own.tuples;
  own.result_bytes += event.bytes;
}

void ReportMaker::see(const ObservedRun&, std::span<const RunEvent> events) {
  for (const RunEvent& event : events) {
    const auto elements = static_cast<double>(event.elements);
    switch (event.kind) {
      case RunEvent::Kind::task: count_task(event); break;
      case RunEvent::Kind::read: so_far_.bytes_read += event.bytes; break;
      case RunEvent::Kind::spilled: so_far_.bytes_spilled += event.bytes; break;
      case RunEvent::Kind::sent:
        so_far_.floats_moved += elements;
        so_far_.sent[static_cast<std::size_t>(event.site)] += elements;
        so_far_.operators[static_cast<std::size_t>(event.op)].floats_moved += elements;
        break;
      case RunEvent::Kind::received:
        so_far_.received[static_cast<std::size_t>(event.site)] += elements;
        break;
      case RunEvent::Kind::written: break;
    }
  }
}

void ReportMaker::run_ends(const ObservedRun& run, const RunEnd& end) {
  so_far_.peak_bytes = end.peak;
  so_far_.seconds = static_cast<double>(end.end - run.begin()) * 1e-9;
}

RunReport ReportMaker::report(const std::vector<std::int64_t>& expected) const {
  RunReport report = so_far_;
  std::unordered_map<const ia::Plan::Node*, int> places;
  for (const ia::Plan& plan : ia::in_order(graph_.plans))
    places.emplace(&plan.node(), static_cast<int>(places.size()));
  for (std::size_t op = 0; op < report.operators.size(); ++op) {
    OperatorReport& own = report.operators[op];
    own.description = ia::describe(graph_.steps[op]);
    own.kernel = only_kernel(graph_.steps[op]);
    own.seconds = static_cast<double>(nanoseconds_[op]) * 1e-9;
    if (!expected.empty()) own.expected_bytes = expected[op];
    own.node = places.at(&graph_.steps[op].node());
  }
  return report;
}

}  // namespace tessera::exec
