#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "tessera/ia.h"

namespace tessera {

/// How far a run has come. Times are in seconds; `seconds_left` is extrapolated from the predicted
/// work of the tasks that are done and of those that are not.
struct Progress {
  std::int64_t tasks_done = 0, tasks = 0;
  double floats_moved = 0;
  double flops_done = 0, flops = 0;
  std::int64_t bytes_live = 0;
  double seconds = 0, seconds_left = 0;
};

struct RunOptions {
  Holes holes = Holes::refused;
  int sites = 1;    // logical sites that a logical plan is spread over; on a cluster, its processes
  int threads = 0;  // 0: all cores
  bool optimize = true;  // no: the plan is run operator by operator, as it was written
  /// A stop request is seen before each task: no other starts, and the run ends with Interrupted.
  std::stop_token stop = {};
  /// Called by whatever thread has just finished a task, never by two at once, at most once in
  /// `progress_seconds`, and at the end.
  std::function<void(const Progress&)> progress = {};
  double progress_seconds = 0.1;
};

/// What a run took. `sent` and `received` count the numbers in the tiles that crossed, by site.
struct RunReport {
  double floats_moved = 0;
  std::vector<double> sent = {}, received = {};
  double flops = 0;  // as the kernels predict them
  std::int64_t tasks = 0;
  std::int64_t peak_bytes = 0;  // of tiles that the run made, its result included
  double seconds = 0;
};

/// Evaluates a plan on all cores, tile by tile: a tile's work starts when its inputs are there, and
/// a tile is dropped after its last reader. The order in which tiles are folded is fixed by their
/// keys, so that a run's result does not depend on the number of threads. PlanError, before any
/// kernel runs, if the keys are known to collide or, unless allowed, to have holes.
Relation run(const ia::Plan& plan, const RunOptions& options = {}, RunReport* report = nullptr);
/// The same for a logical plan, on `options.sites` sites or those of the cluster.
Relation run(const Plan& plan, const RunOptions& options = {}, RunReport* report = nullptr);
/// Several results at once; what they share is computed once.
std::vector<Relation> run(const std::vector<ia::Plan>& plans, const RunOptions& options = {},
                          RunReport* report = nullptr);
std::vector<Relation> run(const std::vector<Plan>& plans, const RunOptions& options = {},
                          RunReport* report = nullptr);

/// The processes that run this program together under mpirun; one, if it was started by itself.
/// Every process runs the same plans in the same order, each its own site, and `run` gives all of
/// them the whole result.
struct ClusterInfo {
  int rank = 0;
  int size = 1;
};
ClusterInfo cluster_info();

/// What a process has of a result that is left where it was computed: the tuples of its sites.
struct LocalPart {
  RelationType type;
  Placement placement;
  std::vector<Tuple> tuples;
};
std::vector<LocalPart> run_in_place(const std::vector<ia::Plan>& plans,
                                    const RunOptions& options = {}, RunReport* report = nullptr);

}  // namespace tessera
