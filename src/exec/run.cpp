#include "tessera/run.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/failed_allocation.h"
#include "base/stop.h"
#include "exec/local_engine.h"
#include "exec/planned_run.h"
#include "exec/report_maker.h"
#include "exec/results_to_come.h"
#include "exec/statement_memory.h"
#include "optimizer/cost.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

/// Tuples by result: those at the sites of this process.
using OwnTuples = std::vector<std::vector<Tuple>>;

OwnTuples carry_out(exec::Prepared run, const PlannedRun::State& state, const TupleSink& sink,
                    RunReport* report) {
  const exec::Context& context = state.context;
  exec::refuse_what_cannot_fit(run);
  const std::function<void(const RunRecord&)>& ended = context.options.ended;
  RunRecord record;
  std::vector<std::int64_t> expected;
  if (ended) {
    record.plans = run.graph->plans;
    record.cost = optimizer::cost_if_listed(record.plans);
    record.forecast = exec::forecast_of(run);
    record.rules = state.planned->rules;
    record.passes = state.planned->passes;
    expected = exec::expected_bytes(run);
  }
  const std::shared_ptr<const exec::TaskGraph> graph = run.graph;
  std::vector<RunObserver*> observers;
  std::optional<exec::ReportMaker> maker;
  if (report != nullptr || ended) observers.push_back(&maker.emplace(*graph));
  if (context.options.observer) observers.push_back(context.options.observer.get());
  OwnTuples results = context.engine->run(std::move(run), sink, std::move(observers));
  if (maker) {
    record.report = maker->report(expected);
    if (report != nullptr) *report = record.report;
    if (ended) ended(record);
  }
  return results;
}

/// On a cluster every process counts the same runs: one that fails before it is opened, be it for
/// want of memory here, is told to the others, who may wait for its tiles.
template <class Body>
auto counted(exec::Engine& engine, const Body& body) {
  const std::int64_t before = engine.runs();
  try {
    return telling_failed_allocations(body);
  } catch (const std::exception& error) {
    if (engine.runs() == before) engine.fail_next_run(error.what());
    throw;
  }
}

/// Where a run begins, its context is made.
template <class Body>
auto in_context(const RunOptions& options, const Body& body) {
  const StopScope stop_scope(options.stop);
  const std::shared_ptr<exec::Engine> engine = exec::engine_of(options);
  return counted(*engine, [&] {
    const exec::Context context = exec::context_of(options, engine);
    const exec::StatementMemory memory(context.options.memory_limit);
    return body(context);
  });
}

/// The same for what is planned. `body` is given the tasks.
template <class Body>
auto in_context(PlannedRun::State& state, const Body& body) {
  const exec::Context& context = state.context;
  const StopScope stop_scope(context.options.stop);
  return counted(*context.engine, [&] {
    const exec::StatementMemory memory(context.options.memory_limit);
    return body(state.take_to_run());
  });
}

std::vector<Relation> kept_results(PlannedRun planned, RunReport* report) {
  PlannedRun::State& state = planned.state();
  return in_context(state, [&](exec::Prepared run) {
    OwnTuples tuples = carry_out(std::move(run), state, {}, report);
    std::vector<Relation> results;
    for (std::size_t i = 0; i < tuples.size(); ++i)
      results.push_back(
          settle(state.logical[i], std::move(tuples[i]), state.context.options.holes));
    return results;
  });
}

}  // namespace

std::vector<Relation> run(const std::vector<ia::Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  return in_context(options, [&](const exec::Context& context) {
    return kept_results(plan_run(plans, context, true), report);
  });
}

std::vector<LocalPart> run_in_place(const std::vector<ia::Plan>& plans, const RunOptions& options,
                                    RunReport* report) {
  return in_context(options, [&](const exec::Context& context) {
    PlannedRun planned = plan_run(plans, context, false);
    OwnTuples tuples = in_context(planned.state(), [&](exec::Prepared run) {
      return carry_out(std::move(run), planned.state(), {}, report);
    });
    std::vector<LocalPart> parts;
    for (std::size_t i = 0; i < plans.size(); ++i)
      parts.push_back({plans[i].type(), plans[i].placement(), std::move(tuples[i])});
    return parts;
  });
}

std::vector<Relation> run(PlannedRun planned, RunReport* report) {
  TESSERA_REQUIRE(PlanError, planned.state().results == Results::kept,
                  "the run was planned to pass its results on: use run_into");
  return kept_results(std::move(planned), report);
}

std::vector<Relation> run(const std::vector<Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  return in_context(options, [&](const exec::Context& context) {
    return run(plan_run(plans, context, Results::kept, planning_options(context)), report);
  });
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
  TESSERA_REQUIRE(PlanError, state.results == Results::handed_over,
                  "the run was planned to keep its results: use run");
  return in_context(state, [&](exec::Prepared run) {
    std::vector<TupleSet<TileType>> results =
        exec::results_to_come(*run.graph, state.logical, state.context.options.holes);
    (void)carry_out(std::move(run), state, sink, report);
    return results;
  });
}

std::vector<TupleSet<TileType>> run_into(const std::vector<Plan>& plans, const TupleSink& sink,
                                         const RunOptions& options, RunReport* report) {
  return in_context(options, [&](const exec::Context& context) {
    return run_into(plan_run(plans, context, Results::handed_over, planning_options(context)), sink,
                    report);
  });
}

ClusterInfo cluster_info(const RunOptions& options) {
  const std::shared_ptr<exec::Engine> engine = exec::engine_of(options);
  return {engine->rank(), engine->processes()};
}

std::shared_ptr<exec::Engine> local_engine() { return std::make_shared<exec::LocalEngine>(); }

Relation Plan::run(const RunOptions& options) const { return tessera::run(*this, options); }

Relation Plan::run(Holes holes) const {
  RunOptions options;
  options.holes = holes;
  return tessera::run(*this, options);
}

}  // namespace tessera
