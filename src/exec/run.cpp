#include "tessera/run.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/failed_allocation.h"
#include "base/stop.h"
#include "exec/cluster.h"
#include "exec/local_transport.h"
#include "exec/planned_run.h"
#include "exec/progress_teller.h"
#include "exec/report_maker.h"
#include "exec/scheduler.h"
#include "exec/statement_memory.h"
#include "tile/kept_memory.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

/// Those who hear what a run does.
struct Observers {
  std::unique_ptr<exec::ReportMaker> report;
  std::unique_ptr<exec::ProgressTeller> progress;
  std::vector<RunObserver*> all;

  Observers(const exec::TaskGraph& graph, const std::vector<bool>& mine, const RunOptions& options,
            bool wants_report) {
    if (wants_report) all.push_back((report = std::make_unique<exec::ReportMaker>(graph)).get());
    if (options.observer != nullptr) all.push_back(options.observer.get());
    if (options.progress)
      all.push_back(
          (progress = std::make_unique<exec::ProgressTeller>(graph, mine, options)).get());
  }
};

/// What a run leaves: who has which outputs. The scheduler refers to all that is above it.
struct Finished {
  std::unique_ptr<const exec::TaskGraph> graph;
  std::unique_ptr<const RunOptions> options;
  std::vector<bool> mine;
  std::unique_ptr<const Observers> observers = nullptr;
  std::unique_ptr<exec::EventStream> events = nullptr;
  std::unique_ptr<exec::Scheduler> scheduler = nullptr;
};

Finished carry_out(exec::Prepared run, const TupleSink& sink, RunReport* report) {
  exec::refuse_what_cannot_fit(run);
  RunRecord record;
  std::vector<std::int64_t> expected;
  if (run.options.ended) {
    record.plans = run.graph->plans;
    record.forecast = exec::forecast_of(run);
    expected = exec::expected_bytes(run);
  }
  std::optional<KeepAtMost> kept;
  if (!run.all_fits) kept.emplace(static_cast<std::size_t>(run.kept));
  exec::Cluster* cluster = exec::cluster();
  std::unique_ptr<exec::Transport> transport;
  if (cluster != nullptr)
    transport = cluster->open_run(*run.graph);
  else
    transport = std::make_unique<exec::LocalTransport>();
  Finished done{std::move(run.graph), std::make_unique<const RunOptions>(std::move(run.options)),
                std::move(run.mine)};
  std::unique_ptr<exec::Residence> residence;
  if (!run.all_fits)
    residence = std::make_unique<exec::Residence>(*done.graph, done.mine, std::move(run.sizes),
                                                  done.options->memory_limit - run.kept,
                                                  exec::Pace::of(done.options->threads));
  const RunOptions& options = *done.options;
  done.observers = std::make_unique<const Observers>(*done.graph, done.mine, options,
                                                     report != nullptr || options.ended);
  done.events = std::make_unique<exec::EventStream>(
      *done.graph, done.observers->all,
      options.progress ? std::min(0.01, options.progress_seconds) : 0.01);
  std::function<void()> tell_progress;
  if (done.observers->progress)
    tell_progress = [&events = *done.events, &progress = *done.observers->progress] {
      progress.tell_if_due(events.run());
    };
  done.scheduler = std::make_unique<exec::Scheduler>(*done.graph, done.mine, options, *transport,
                                                     sink, std::move(residence), *done.events,
                                                     std::move(tell_progress));
  done.scheduler->run();
  if (done.observers->report) {
    record.report = done.observers->report->report(expected);
    if (report != nullptr) *report = record.report;
    if (options.ended) options.ended(record);
  }
  return done;
}

/// On a cluster every process counts the same runs: one that fails before it is opened, be it for
/// want of memory here, is told to the others, who may wait for its tiles.
template <class Body>
auto counted(const RunOptions& options, const Body& body) {
  exec::Cluster* cluster = exec::cluster();
  const std::int64_t before = cluster != nullptr ? cluster->runs() : 0;
  try {
    const exec::StatementMemory memory(exec::memory_limit_of(options));
    return telling_failed_allocations(body);
  } catch (const std::exception& error) {
    if (cluster != nullptr && cluster->runs() == before) cluster->fail_next_run(error.what());
    throw;
  }
}

/// The tuples of each result at the sites of this process, one copy of each.
std::vector<std::vector<Tuple>> results_of(const Finished& done, std::size_t plans) {
  std::vector<std::vector<Tuple>> results(plans);
  for (const exec::TaskGraph::Output& output : done.graph->outputs) {
    if (!done.mine[done.graph->values[output.value].site]) continue;
    std::vector<Tuple>& tuples = results[output.result];
    const Key key = done.graph->keys[output.key];
    if (tuples.empty() || tuples.back().key != key)
      tuples.push_back({key, done.scheduler->result(output.value)});
  }
  return results;
}

/// What results will be: keys and types.
std::vector<TupleSet<TileType>> results_to_come(const exec::TaskGraph& graph,
                                                const std::vector<Plan>& plans, Holes holes) {
  std::vector<std::vector<BasicTuple<TileType>>> tuples(plans.size());
  for (const exec::TaskGraph::Output& output : graph.outputs) {
    const exec::TypesId types = graph.values[output.value].types;
    const Key key = graph.keys[output.key];
    std::vector<BasicTuple<TileType>>& of = tuples[static_cast<std::size_t>(output.result)];
    // Of several copies one counts. What has no type will fail with a better message.
    if (types != exec::unknown_types && (of.empty() || of.back().key != key))
      of.push_back({key, graph.types[types]});
  }
  std::vector<TupleSet<TileType>> results;
  for (std::size_t i = 0; i < plans.size(); ++i)
    results.push_back(settle(plans[i], std::move(tuples[i]), holes));
  return results;
}

}  // namespace

namespace {

std::vector<Relation> kept_results(exec::Prepared prepared, RunReport* report) {
  const std::vector<ia::Plan> plans = prepared.graph->plans;
  const Holes holes = prepared.options.holes;
  const Finished done = carry_out(std::move(prepared), {}, report);
  std::vector<std::vector<Tuple>> tuples = results_of(done, plans.size());
  std::vector<Relation> results;
  for (std::size_t i = 0; i < plans.size(); ++i)
    results.push_back(settle(plans[i].logical(), std::move(tuples[i]), holes));
  return results;
}

}  // namespace

std::vector<Relation> run(const std::vector<ia::Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  const StopScope heard(options.stop);
  std::vector<ia::Plan> gathered = plans;
  if (exec::cluster() != nullptr)
    for (ia::Plan& plan : gathered)
      if (!plan.placement().is_all()) plan = plan.broadcast();
  return counted(options,
                 [&] { return kept_results(exec::prepare(gathered, options, true), report); });
}

std::vector<LocalPart> run_in_place(const std::vector<ia::Plan>& plans, const RunOptions& options,
                                    RunReport* report) {
  const StopScope heard(options.stop);
  const Finished done =
      counted(options, [&] { return carry_out(exec::prepare(plans, options, true), {}, report); });
  std::vector<std::vector<Tuple>> tuples = results_of(done, plans.size());
  std::vector<LocalPart> parts;
  for (std::size_t i = 0; i < plans.size(); ++i)
    parts.push_back({plans[i].type(), plans[i].placement(), std::move(tuples[i])});
  return parts;
}

std::vector<Relation> run(PlannedRun planned, RunReport* report) {
  PlannedRun::State& state = planned.state();
  TESSERA_INVARIANT(state.results == Results::kept, "planned for a sink");
  const StopScope heard(state.options.stop);
  return counted(state.options,
                 [&] { return kept_results(state.take_to_run(), report); });
}

std::vector<Relation> run(const std::vector<Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  return counted(options,
                 [&] { return run(plan_run(plans, options, Results::kept), report); });
}

Relation run(const ia::Plan& plan, const RunOptions& options, RunReport* report) {
  return run(std::vector<ia::Plan>{plan}, options, report).front();
}

Relation run(const Plan& plan, const RunOptions& options, RunReport* report) {
  return run(std::vector<Plan>{plan}, options, report).front();
}

std::vector<TupleSet<TileType>> run_into(PlannedRun planned, const TupleSink& sink,
                                         RunReport* report) {
  PlannedRun::State& state = planned.state();
  TESSERA_INVARIANT(state.results == Results::handed_over, "planned to be kept");
  const StopScope heard(state.options.stop);
  return counted(state.options, [&] {
    exec::Prepared run = state.take_to_run();
    std::vector<TupleSet<TileType>> results =
        results_to_come(*run.graph, state.logical, state.options.holes);
    (void)carry_out(std::move(run), sink, report);
    return results;
  });
}

std::vector<TupleSet<TileType>> run_into(const std::vector<Plan>& plans, const TupleSink& sink,
                                         const RunOptions& options, RunReport* report) {
  return counted(options, [&] {
    return run_into(plan_run(plans, options, Results::handed_over), sink, report);
  });
}

ClusterInfo cluster_info() {
  const exec::Cluster* cluster = exec::cluster();
  return cluster != nullptr ? ClusterInfo{cluster->rank(), cluster->size()} : ClusterInfo{};
}

Relation Plan::run(const RunOptions& options) const { return tessera::run(*this, options); }

Relation Plan::run(Holes holes) const {
  RunOptions options;
  options.holes = holes;
  return tessera::run(*this, options);
}

}  // namespace tessera
