#pragma once

#include <chrono>

#include "exec/task_graph.h"
#include "tessera/run.h"

namespace tessera::exec {

/// Adds up the work that is done and extrapolates the time that is left.
class ProgressMeter {
 public:
  void expect(const Cost& cost) {
    ++tasks_;
    flops_ += cost.flops;
    work_ += work_of(cost);
  }
  void done(const Cost& cost) {
    ++tasks_done_;
    flops_done_ += cost.flops;
    work_done_ += work_of(cost);
  }
  std::int64_t tasks() const { return tasks_; }
  std::int64_t tasks_done() const { return tasks_done_; }
  std::int64_t tasks_left() const { return tasks_ - tasks_done_; }
  double flops() const { return flops_; }
  double work_left() const { return work_ - work_done_; }  // about, in seconds
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  /// Whether it is time to tell again; then the next time is `every` seconds later.
  bool is_due(double every) {
    const double now = seconds();
    if (now < next_) return false;
    next_ = now + every;
    return true;
  }
  Progress progress() const {
    Progress now;
    now.tasks_done = tasks_done_;
    now.tasks = tasks_;
    now.flops_done = flops_done_;
    now.flops = flops_;
    now.seconds = seconds();
    if (tasks_left() > 0 && work_done_ > 0)
      now.seconds_left = now.seconds * (work_ - work_done_) / work_done_;
    return now;
  }

 private:
  /// In seconds of some machine; a task that does nothing takes a microsecond.
  static double work_of(const Cost& cost) { return 1e-6 + cost.flops / 2e10 + cost.bytes / 1e10; }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double next_ = 0;
  std::int64_t tasks_ = 0, tasks_done_ = 0;
  double flops_ = 0, flops_done_ = 0;
  double work_ = 0, work_done_ = 0;
};

}  // namespace tessera::exec
