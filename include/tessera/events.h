#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tessera/key.h"

namespace tessera {

namespace exec {
struct TaskGraph;
}

/// Something that a run has done. Times are in nanoseconds of std::chrono::steady_clock.
struct RunEvent {
  enum class Kind : std::uint8_t {
    task,      // a task began, and ended; a move between sites is a task of the sender
    read,      // a tuple was read from its source, or back from where it was spilled
    written,   // a tuple of a result was taken by the sink
    spilled,   // a tuple was written to disk to make room
    sent,      // a tuple left for another site
    received,  // a tuple arrived from another site
  };
  Kind kind = Kind::task;
  bool failed = false;           // the task ended with an error
  bool is_result = false;        // what the task made is of a result: without a sink, it stays
  std::int32_t thread = 0;       // of this process, counted from 0
  std::int32_t site = 0;         // where it happened
  std::int32_t other_site = -1;  // of what was sent: where to; of what was received: where from
  std::int32_t op = -1;          // whose task it was, or made the tuple; -1: the tuple was given
  std::int32_t task = -1;        // its number
  std::int64_t key = -1;         // of the tuple: see ObservedRun::key
  std::int64_t begin = 0, end = 0;
  std::int64_t bytes = 0, elements = 0;  // of the tuple: what the task made, read, or moved
  double flops = 0, work_bytes = 0;      // of a task: what its kernels compute, read and write
  std::int64_t held = 0;                 // bytes that the run held in memory after it
};

/// The run that events tell of.
class ObservedRun {
 public:
  ObservedRun(const exec::TaskGraph& graph, std::int64_t begin) : graph_(graph), begin_(begin) {}

  std::int64_t begin() const { return begin_; }  // in nanoseconds of std::chrono::steady_clock
  int sites() const;
  std::string operator_text(int op) const;  // as EXPLAIN has it: "Join <1> = <0> with matmul"
  Key key(std::int64_t key) const;
  const exec::TaskGraph& graph() const { return graph_; }

 private:
  const exec::TaskGraph& graph_;
  std::int64_t begin_;
};

/// How a run ended.
struct RunEnd {
  bool failed = false;
  std::int64_t end = 0;
  std::int64_t held = 0;  // bytes that it held in memory then, and at most
  std::int64_t peak = 0;
};

/// Is told of all that a run does: given with RunOptions::observer. Events come in batches, each of
/// one thread in order; of two threads, what happened first may be told last. A run calls its
/// observer from any of its threads, never from two at once. What it throws ends the run.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void run_begins(const ObservedRun& run) { (void)run; }
  virtual void see(const ObservedRun& run, std::span<const RunEvent> events) = 0;
  virtual void run_ends(const ObservedRun& run, const RunEnd& end) { (void)run, (void)end; }
};

}  // namespace tessera
