#pragma once

#include <atomic>
#include <mutex>

#include "exec/task_graph.h"
#include "tessera/events.h"
#include "tessera/run.h"

namespace tessera::exec {

/// Makes progress of the events of a run, and tells it: once in a while, and at the end.
class ProgressReporter final : public RunObserver {
 public:
  /// `mine`: the sites, by number, whose tasks are run here. `options` has who is told.
  ProgressReporter(const TaskGraph& graph, const std::vector<bool>& mine,
                   const RunOptions& options);

  void see(const ObservedRun& run, std::span<const RunEvent> events) override;
  void run_ends(const ObservedRun& run, const RunEnd& end) override;

  /// Tells how far the run is if it is time to. Any thread may call; while one tells, which may
  /// take long, the others go on.
  void report_if_due(const ObservedRun& run);

 private:
  Progress at(const ObservedRun& run, std::int64_t time) const;

  const TaskGraph& graph_;
  const RunOptions& options_;
  mutable std::mutex mutex_;  // guards what is counted
  Progress now_;
  double work_ = 0, work_done_ = 0;
  std::atomic<bool> telling_ = false;
  double next_ = 0;  // when to tell again: of whoever tells
};

}  // namespace tessera::exec
