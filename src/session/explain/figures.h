#pragma once

#include "tessera/optimizer.h"
#include "tessera/run.h"

namespace tessera::session {

/// What a run takes, or several one after the other: as it was predicted, or as it was measured.
struct Figures {
  double seconds = 0;
  double flops = 0, bytes = 0;  // of kernels: what they compute, and what they read and write
  double floats_moved = 0;
  std::int64_t peak = 0;               // bytes in memory
  std::int64_t read = 0, spilled = 0;  // bytes from disk, and to make room
  std::int64_t tasks = 0;              // of what was measured

  void add(const Figures& next);
};
Figures predicted(const RunRecord& run);
Figures measured(const RunRecord& run);

/// What an operator takes.
struct OperatorFigures {
  double tuples = 0;
  double flops = 0, bytes = 0, seconds = 0;
  double floats_moved = 0;
  std::int64_t result_bytes = 0;
};

/// An operator of a plan that was run, in the order of ia::in_order.
struct MeasuredOperator {
  OperatorFigures predicted = {};
  std::optional<OperatorFigures> measured = {};  // none: there was nothing to do for it
  std::int64_t tasks = 0;
};
std::vector<MeasuredOperator> operators_of(const RunRecord& run);

}  // namespace tessera::session
