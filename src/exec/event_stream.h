#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/task_graph.h"
#include "tessera/events.h"

namespace tessera::exec {

/// Carries what a run does to those who observe it: progress, reports and traces are all made from
/// these events. A thread that runs tasks keeps its events for a moment and hands over many at once
/// (`Lane`), so that a small task costs no lock. An error of an observer is kept until somebody
/// asks for it.
class EventStream {
 public:
  /// `delay`: how many seconds events may be kept.
  EventStream(const TaskGraph& graph, std::vector<RunObserver*> observers, double delay = 0.01);

  bool is_heard() const { return !observers_.empty(); }
  static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  /// While it lives, this thread keeps its events and hands them over now and then.
  class Lane {
   public:
    explicit Lane(EventStream& stream);
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    bool is_empty() const { return events_.empty(); }
    void hand_over();
    bool hand_over_if_due();  // whether it did

   private:
    friend class EventStream;
    EventStream& stream_;
    Lane* const before_;
    const int thread_;
    std::vector<RunEvent> events_;
  };

  void begin();
  const ObservedRun& run() const { return *run_; }  // since it has begun
  /// Tells an event of this thread, whose number is filled in. Any thread may call.
  void tell(RunEvent& event);
  /// Tells what is left, and that the run has ended. All threads but this one are done.
  void end(const RunEnd& end);
  /// The task that makes a value; -1 for one that is given. Empty if there are no observers.
  TaskId maker_of(ValueId value) const { return makers_[static_cast<std::size_t>(value)]; }
  bool is_result(ValueId value) const { return results_[static_cast<std::size_t>(value)] != 0; }

  bool has_failed() const { return failed_.load(std::memory_order_relaxed); }
  std::exception_ptr error() const;

 private:
  void hand_over(std::span<const RunEvent> events);
  template <class Body>
  void keeping_errors(const Body& body);

  const TaskGraph& graph_;
  const std::vector<RunObserver*> observers_;
  const std::int64_t delay_;    // nanoseconds
  std::vector<TaskId> makers_;  // by value, as what follows
  std::vector<char> results_;   // whether it is of a result
  std::unique_ptr<const ObservedRun> run_;
  mutable std::mutex mutex_;  // of those who hand over
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;
  bool ended_ = false;  // later events, of a run that did not end well, are dropped
};

}  // namespace tessera::exec
