#include "exec/progress_reporter.h"

#include "exec/event_stream.h"
#include "exec/work_left.h"

namespace tessera::exec {

ProgressReporter::ProgressReporter(const TaskGraph& graph, const std::vector<bool>& mine,
                                   const RunOptions& options)
    : graph_(graph), options_(options) {
  for (const Task& task : graph.tasks) {
    if (!mine[task.site]) continue;
    const Cost& cost = graph.costs[task.cost];
    ++now_.tasks;
    now_.flops += cost.flops;
    work_ += work_of(cost);
  }
}

void ProgressReporter::see(const ObservedRun&, std::span<const RunEvent> events) {
  const std::lock_guard lock(mutex_);
  for (const RunEvent& event : events) {
    switch (event.kind) {
      case RunEvent::Kind::task:
        if (event.failed) continue;
        ++now_.tasks_done;
        now_.flops_done += event.flops;
        work_done_ += work_of(graph_.costs[graph_.tasks[event.task].cost]);
        break;
      case RunEvent::Kind::read: now_.bytes_read += event.bytes; break;
      case RunEvent::Kind::spilled: now_.bytes_spilled += event.bytes; break;
      case RunEvent::Kind::sent: now_.floats_moved += static_cast<double>(event.elements); break;
      case RunEvent::Kind::written:
      case RunEvent::Kind::received: break;
    }
    now_.bytes_live = event.held;
  }
}

/// The time that is left is extrapolated from the work that is done.
Progress ProgressReporter::at(const ObservedRun& run, std::int64_t time) const {
  const std::lock_guard lock(mutex_);
  Progress told = now_;
  told.seconds = static_cast<double>(time - run.begin()) * 1e-9;
  if (told.tasks_done < told.tasks && work_done_ > 0)
    told.seconds_left = told.seconds * (work_ - work_done_) / work_done_;
  return told;
}

void ProgressReporter::report_if_due(const ObservedRun& run) {
  if (telling_.exchange(true, std::memory_order_acquire)) return;
  const Progress told = at(run, EventStream::now());
  std::exception_ptr error;
  try {
    if (told.seconds >= next_ && told.tasks_done < told.tasks) {
      next_ = told.seconds + options_.progress_seconds;
      options_.progress(told);
    }
  } catch (...) {
    error = std::current_exception();
  }
  telling_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

void ProgressReporter::run_ends(const ObservedRun& run, const RunEnd& end) {
  if (end.failed) return;
  Progress told = at(run, end.end);
  told.bytes_live = end.held;
  options_.progress(told);
}

}  // namespace tessera::exec
