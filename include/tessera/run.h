#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tessera/optimizer.h"

namespace tessera {

/// How far a run has come. Times are in seconds; `seconds_left` is extrapolated from the predicted
/// work of the tasks that are done and of those that are not.
struct Progress {
  std::int64_t tasks_done = 0, tasks = 0;
  double floats_moved = 0;
  double flops_done = 0, flops = 0;
  std::int64_t bytes_live = 0;
  std::int64_t bytes_read = 0, bytes_spilled = 0;  // from and to disk, so far
  double seconds = 0, seconds_left = 0;
  /// Of a statement that is computed in several frames: which one, counted from 1, of how many. The
  /// counts above are those of what this frame runs, the times those of the whole statement.
  int frame = 0, frames = 0;
};

namespace exec {
class Engine;
}

struct RunRecord;   // below: a run that has ended
class RunObserver;  // events.h

struct RunOptions {
  Holes holes = Holes::refused;
  int sites = 1;    // logical sites that a logical plan is spread over; on a cluster, its processes
  int threads = 0;  // 0: all cores
  bool optimize = true;  // no: the plan is run operator by operator, as it was written
  std::set<std::string> disabled = {};  // rules and passes that plans do without (known_rules)
  /// Bytes that the run may hold in memory, in each process: tiles that are read, intermediates,
  /// results, and what is on its way to others. 0: what TESSERA_MEMORY_LIMIT in the environment
  /// says, or else 80% of what the machine, or the control group of the process, has.
  std::int64_t memory_limit = 0;
  /// Where intermediates go that do not fit. Empty: what TMPDIR says, or else /var/tmp.
  std::string temporary_folder = {};
  /// A stop request is heard while plans are made and inside of tasks, but for single calls of
  /// libraries, and the run ends with Interrupted.
  std::stop_token stop = {};
  /// Called by whatever thread has just finished a task, never by two at once, at most once in
  /// `progress_seconds`, and at the end.
  std::function<void(const Progress&)> progress = {};
  double progress_seconds = 0.1;
  /// Called after each run that did not fail, by the thread that asked for it: for those who
  /// compare what was predicted with what it took.
  std::function<void(const RunRecord&)> ended = {};
  /// Is told of all that the run does. Several runs may have the same one: a Trace, for one.
  std::shared_ptr<RunObserver> observer = {};
  /// Who runs it, and makes statements together. None: the processes of the cluster that this one
  /// belongs to, or else this process alone.
  std::shared_ptr<exec::Engine> engine = {};
};

/// What an operator of a run took.
struct OperatorReport {
  std::string description;
  std::string kernel = {};  // if there is just one
  std::int64_t tasks = 0;
  double flops = 0, bytes = 0;  // as its kernels predict them
  double seconds = 0;           // summed over the threads
  std::int64_t tuples = 0;      // of its result
  double floats_moved = 0;      // by a move between sites
  std::int64_t result_bytes = 0;
  std::int64_t expected_bytes = 0;  // as guessed, if RunOptions::ended is set
  int node = -1;                    // its place among ia::in_order of the plans that were run
};

/// What a run took. `sent` and `received` count the numbers in the tiles that crossed, by site; on
/// a cluster, at the sites of this process.
struct RunReport {
  double floats_moved = 0;
  std::vector<double> sent = {}, received = {};
  double flops = 0;  // as the kernels predict them
  std::int64_t tasks = 0;
  std::int64_t peak_bytes = 0;     // of tiles that the run made or read, its result included
  std::int64_t bytes_read = 0;     // from sources, and of what was spilled
  std::int64_t bytes_spilled = 0;  // written out to make room
  double seconds = 0;
  std::vector<OperatorReport> operators = {};
};

/// What a run will need of memory and disk, by going through its tasks without running them.
/// Entries of sparse tiles cannot be counted beforehand: they are guessed.
struct MemoryForecast {
  std::int64_t limit = 0;   // that the run would have
  std::int64_t needed = 0;  // with less than this it cannot run
  std::int64_t peak = 0;    // bytes in memory at once
  std::int64_t read = 0, spilled = 0;
  std::string order = {};  // in which its tasks are taken: "depth first", "6 x 6 results at a time"
  std::string to_string() const;
};
/// OptimizedPlan::json, and in it, under "memory", the forecast of its run, or null.
std::string to_json(const OptimizedPlan& plan, const std::optional<MemoryForecast>& memory);

/// A run that has ended: the plans as they were carried out, what they were predicted to cost and
/// to need, what the run took, and how they were planned. On a cluster it tells of the sites of
/// this process, and the first one how they were planned.
struct RunRecord {
  std::vector<ia::Plan> plans;
  PlanCost cost;
  MemoryForecast forecast;
  RunReport report;
  std::vector<RuleUse> rules = {};
  std::vector<PassUse> passes = {};
};

enum class Results { kept, handed_over };  // in memory until the end, or to a sink as they come

/// Plans that run together, with all that is decided before they do: which physical operators, at
/// which sites, in which order, within how much memory. Whatever runs, forecasts or explains plans
/// takes this value.
class PlannedRun {
 public:
  const std::vector<ia::Plan>& plans() const;  // physical, one for each result
  OptimizedPlan optimized() const;             // with what each operator is predicted to cost
  /// None if an input has a type and no tuples, or if it was planned for other sites than a run's.
  std::optional<MemoryForecast> memory() const;
  /// Keys and types of its results. None as above.
  std::optional<std::vector<TupleSet<TileType>>> results() const;

  struct State;
  explicit PlannedRun(std::unique_ptr<State> state);
  PlannedRun(PlannedRun&& other) noexcept;
  PlannedRun& operator=(PlannedRun&& other) noexcept;
  ~PlannedRun();
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// How a run plans: for the processes of the cluster, or else the sites that the options name.
OptimizerOptions planning_options(const RunOptions& options);
/// PlanError, as from a run, for what is known not to run.
PlannedRun plan_run(const std::vector<Plan>& plans, const RunOptions& options = {},
                    Results results = Results::kept);
PlannedRun plan_run(const std::vector<Plan>& plans, const RunOptions& options, Results results,
                    OptimizerOptions planning);
/// A planned run as bytes, like plans (plan.h), with the tasks that it comes to: another program
/// that has the same inputs runs it without planning it. In which order it takes the tasks follows
/// from the memory that it has.
std::string to_bytes(PlannedRun& planned);
PlannedRun planned_run_from_bytes(std::string_view bytes, const FindInput& find,
                                  const RunOptions& options = {});
MemoryForecast forecast(const Plan& plan, const RunOptions& options = {},
                        Results results = Results::kept);

/// Evaluates a plan on all cores, tile by tile: a tile's work starts when its inputs are there, and
/// a tile is dropped after its last reader. Inputs are read ahead of that, and where not all fits
/// under the limit, what is needed last goes to disk. OutOfMemory, before any kernel runs, if no
/// order of the work fits. The order in which tiles are folded is fixed by their
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
/// What was planned with Results::kept.
std::vector<Relation> run(PlannedRun planned, RunReport* report = nullptr);

/// Takes a tuple of a result as soon as it is there: which result, and at which key. Called by
/// several threads at once.
using TupleSink =
    std::function<void(std::size_t result, const Key& key, const std::vector<Tile>& tiles)>;
/// Evaluates plans whose results are handed over tuple by tuple and need not fit into memory.
/// Returns what they are: keys and types. On a cluster each process hands over what lies at its own
/// site, each tuple once, and returns all of it.
std::vector<TupleSet<TileType>> run_into(const std::vector<Plan>& plans, const TupleSink& sink,
                                         const RunOptions& options = {},
                                         RunReport* report = nullptr);
/// What was planned with Results::handed_over.
std::vector<TupleSet<TileType>> run_into(PlannedRun planned, const TupleSink& sink,
                                         RunReport* report = nullptr);

/// The processes that run plans together, and which of them this is: those of the engine that the
/// options name, or else those that run this program under mpirun; one, if it was started by
/// itself. Every process runs the same plans in the same order, each its own site, and `run` gives
/// all of them the whole result.
struct ClusterInfo {
  int rank = 0;
  int size = 1;
};
ClusterInfo cluster_info(const RunOptions& options = {});
/// This process alone, for RunOptions::engine where it belongs to a cluster.
std::shared_ptr<exec::Engine> local_engine();

/// What a process has of a result that is left where it was computed: the tuples of its sites.
struct LocalPart {
  RelationType type;
  Placement placement;
  std::vector<Tuple> tuples;
};
std::vector<LocalPart> run_in_place(const std::vector<ia::Plan>& plans,
                                    const RunOptions& options = {}, RunReport* report = nullptr);

}  // namespace tessera
