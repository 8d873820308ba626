#pragma once

#include "exec/task_graph.h"
#include "tessera/events.h"
#include "tessera/run.h"

namespace tessera::exec {

/// Makes the report of a run of its events.
class ReportMaker final : public RunObserver {
 public:
  explicit ReportMaker(const TaskGraph& graph);

  void see(const ObservedRun& run, std::span<const RunEvent> events) override;
  void run_ends(const ObservedRun& run, const RunEnd& end) override;

  /// What the run took. `expected`: the bytes that the results of each step were thought to take,
  /// if somebody wants to know.
  RunReport report(const std::vector<std::int64_t>& expected) const;

 private:
  void count_task(const RunEvent& event);

  const TaskGraph& graph_;
  RunReport so_far_;
  std::vector<std::int64_t> nanoseconds_;  // by step
};

}  // namespace tessera::exec
