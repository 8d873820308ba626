#pragma once

#include <memory>

#include "exec/task_order.h"
#include "exec/value_sizes.h"
#include "tessera/run.h"

namespace tessera::exec {

/// A run before it begins: its tasks in the order in which they are taken, who runs which, and what
/// it will need.
struct Prepared {
  std::shared_ptr<TaskGraph> graph;
  std::vector<bool> mine;  // sites, by number
  RunOptions options;      // with nothing left open
  bool keeps_results;      // in memory until the end
  ValueSizes sizes = {};
  std::int64_t needed = 0;  // the least limit that it can do with
  std::int64_t kept = 0;    // of the limit, for memory that was released and is kept for later
  ChosenOrder order = {};
  bool all_fits = true;  // whatever the order: nothing needs to make room
};

/// The last of the passes that plans are taken through.
PassInfo tasks_pass();

struct Context;

/// PlanError for what cannot be run at all.
Prepared prepare(const std::vector<ia::Plan>& plans, const Context& context, bool keeps_results);
/// The same for plans whose tasks are known.
Prepared prepare(std::shared_ptr<TaskGraph> graph, const Context& context, bool keeps_results);

/// OutOfMemory if no order of the work fits.
void refuse_what_cannot_fit(const Prepared& run);
MemoryForecast forecast_of(const Prepared& run);
/// The bytes that the results of each step are thought to take.
std::vector<std::int64_t> expected_bytes(const Prepared& run);

}  // namespace tessera::exec
