#pragma once

#include "exec/residence.h"

namespace tessera::exec {

/// What a run will need, found by going through its tasks in order under the rules of residence.
struct Forecast {
  std::int64_t peak = 0;     // bytes in memory at once: a bound, where no sizes are guessed
  std::int64_t read = 0;     // bytes from sources and of what was written out
  std::int64_t written = 0;  // bytes of intermediate values that have to make room
};

struct RunSetup {
  const std::vector<bool>& mine;  // which sites, by number
  const ValueSizes& sizes;
  std::int64_t limit;
  int threads;
  bool keeps_results;  // in memory until the end, rather than storing them as they come
};
Forecast forecast(const TaskGraph& graph, const RunSetup& under);

}  // namespace tessera::exec
