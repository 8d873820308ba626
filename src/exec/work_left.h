#pragma once

#include "exec/task_graph.h"

namespace tessera::exec {

/// About how long a task takes, in seconds of some machine; one that does nothing takes a
/// microsecond.
inline double work_of(const Cost& cost) { return 1e-6 + cost.flops / 2e10 + cost.bytes / 1e10; }

/// Counts the tasks of a run, and those that are done.
class WorkLeft {
 public:
  void expect(const Cost& cost) {
    ++tasks_;
    seconds_ += work_of(cost);
  }
  void done(const Cost& cost) {
    ++tasks_done_;
    seconds_ -= work_of(cost);
  }
  std::int64_t tasks() const { return tasks_; }
  std::int64_t tasks_done() const { return tasks_done_; }
  std::int64_t tasks_left() const { return tasks_ - tasks_done_; }
  double seconds() const { return seconds_; }  // about, by one thread

 private:
  std::int64_t tasks_ = 0, tasks_done_ = 0;
  double seconds_ = 0;
};

}  // namespace tessera::exec
