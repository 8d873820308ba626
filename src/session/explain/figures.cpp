#include "session/explain/figures.h"

#include <algorithm>

namespace tessera::session {

void Figures::add(const Figures& next) {
  seconds += next.seconds;
  flops += next.flops;
  bytes += next.bytes;
  floats_moved += next.floats_moved;
  peak = std::max(peak, next.peak);
  read += next.read;
  spilled += next.spilled;
  tasks += next.tasks;
}

Figures predicted(const RunRecord& run) {
  const OperatorCost& total = run.cost.total;
  return {total.seconds,     total.flops,       total.bytes,         total.floats_moved,
          run.forecast.peak, run.forecast.read, run.forecast.spilled};
}

Figures measured(const RunRecord& run) {
  const RunReport& report = run.report;
  double bytes = 0;
  for (const OperatorReport& one : report.operators) bytes += one.bytes;
  return {report.seconds,       report.flops,      bytes,
          report.floats_moved,  report.peak_bytes, report.bytes_read,
          report.bytes_spilled, report.tasks};
}

std::vector<MeasuredOperator> operators_of(const RunRecord& run) {
  const std::vector<ia::Plan> order = ia::in_order(run.plans);
  std::vector<MeasuredOperator> all(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const OperatorCost& own = run.cost.operators[i];
    // Of a move those tuples are counted that cross, of partial sums all summands: nobody predicts
    // how many these are.
    const bool is_counted = !is_move(order[i]) && order[i].pending().empty();
    const double tuples = is_counted
                              ? static_cast<double>(order[i].logical().cardinality().tuples) *
                                    order[i].placement().copies()
                              : 0;
    all[i].predicted = {tuples, own.flops, own.bytes, own.seconds, own.floats_moved, 0};
  }
  for (const OperatorReport& report : run.report.operators) {
    if (report.tasks == 0) continue;
    MeasuredOperator& own = all[static_cast<std::size_t>(report.node)];
    own.predicted.result_bytes = report.expected_bytes;
    own.measured = {static_cast<double>(report.tuples),
                    report.flops,
                    report.bytes,
                    report.seconds,
                    report.floats_moved,
                    report.result_bytes};
    own.tasks = report.tasks;
  }
  return all;
}

}  // namespace tessera::session
