#pragma once

#include <chrono>
#include <map>

#include "query/lowering/evaluation_observer.h"
#include "session/explain/figures.h"

namespace tessera::session {

/// What a statement took.
struct Analysis {
  /// Plans that were run together. In frames, only the figures of each frame are kept.
  struct Run {
    std::int64_t op = -1;  // they were run for the rows that this operator looks at; -1: the result
    RunRecord record;
  };
  struct Frame {
    std::int64_t number = 0;
    std::int64_t runs = 0, row_operators = 0;
    Figures predicted = {}, measured = {};
    double seconds = 0;  // all in all: planning, running, storing
  };
  std::vector<Run> runs = {};
  std::map<std::int64_t, query::RowWork> by_rows = {};
  std::vector<Frame> frames = {};
  std::int64_t resumed = 0;               // frames that were done before
  Figures predicted = {}, measured = {};  // of all runs
  std::vector<RuleUse> rules = {};        // in frames: what the planner did, in all
  std::vector<PassUse> passes = {};
  double seconds = 0;  // all in all
};

/// Measures a statement that runs.
class Measurement {
 public:
  explicit Measurement(bool in_frames) : in_frames_(in_frames) {}

  void frame_begins(std::int64_t frame);
  void operator_begins(std::int64_t op) { op_ = op; }  // -1: what runs now is the result
  void looked_at_rows(const query::RowWork& work);
  void ran(const RunRecord& record);
  Analysis take();

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  void end_frame();

  const bool in_frames_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point frame_begin_ = begin_;
  bool frame_open_ = false, any_frame_ = false;
  std::int64_t op_ = -1;
  Analysis found_;
};

}  // namespace tessera::session
