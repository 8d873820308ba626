#include "tessera/run.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/failed_allocation.h"
#include "base/stop.h"
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

OwnTuples carry_out(exec::Prepared run, const exec::Context& context, const TupleSink& sink,
                    RunReport* report) {
  exec::refuse_what_cannot_fit(run);
  const std::function<void(const RunRecord&)>& ended = context.options.ended;
  RunRecord record;
  std::vector<std::int64_t> expected;
  if (ended) {
    record.plans = run.graph->plans;
    record.cost = optimizer::cost_if_listed(record.plans);
    record.forecast = exec::forecast_of(run);
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
  const std::shared_ptr<exec::Engine> engine = exec::engine_of(options);
  return counted(*engine, [&] {
    const exec::Context context = exec::context_of(options, engine);
    const exec::StatementMemory memory(context.options.memory_limit);
    return body(context);
  });
}

std::vector<Relation> kept_results(exec::Prepared prepared, const exec::Context& context,
                                   RunReport* report) {
  const std::vector<ia::Plan> plans = prepared.graph->plans;
  OwnTuples tuples = carry_out(std::move(prepared), context, {}, report);
  std::vector<Relation> results;
  for (std::size_t i = 0; i < plans.size(); ++i)
    results.push_back(settle(plans[i].logical(), std::move(tuples[i]), context.options.holes));
  return results;
}

}  // namespace

std::vector<Relation> run(const std::vector<ia::Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  const StopScope heard(options.stop);
  return in_context(options, [&](const exec::Context& context) {
    std::vector<ia::Plan> gathered = plans;
    if (context.engine->processes() > 1)
      for (ia::Plan& plan : gathered)
        if (!plan.placement().is_all()) plan = plan.broadcast();
    return kept_results(exec::prepare(gathered, context, true), context, report);
  });
}

std::vector<LocalPart> run_in_place(const std::vector<ia::Plan>& plans, const RunOptions& options,
                                    RunReport* report) {
  const StopScope heard(options.stop);
  OwnTuples tuples = in_context(options, [&](const exec::Context& context) {
    return carry_out(exec::prepare(plans, context, true), context, {}, report);
  });
  std::vector<LocalPart> parts;
  for (std::size_t i = 0; i < plans.size(); ++i)
    parts.push_back({plans[i].type(), plans[i].placement(), std::move(tuples[i])});
  return parts;
}

std::vector<Relation> run(PlannedRun planned, RunReport* report) {
  PlannedRun::State& state = planned.state();
  TESSERA_REQUIRE(PlanError, state.results == Results::kept,
                  "the run was planned to pass its results on: use run_into");
  const exec::Context& context = state.context;
  const StopScope heard(context.options.stop);
  return counted(*context.engine, [&] {
    const exec::StatementMemory memory(context.options.memory_limit);
    return kept_results(state.take_to_run(), context, report);
  });
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
  const exec::Context& context = state.context;
  const StopScope heard(context.options.stop);
  return counted(*context.engine, [&] {
    const exec::StatementMemory memory(context.options.memory_limit);
    exec::Prepared run = state.take_to_run();
    std::vector<TupleSet<TileType>> results =
        exec::results_to_come(*run.graph, state.logical, context.options.holes);
    (void)carry_out(std::move(run), context, sink, report);
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

ClusterInfo cluster_info() {
  const std::shared_ptr<exec::Engine> engine = exec::engine_of({});
  return {engine->rank(), engine->processes()};
}

Relation Plan::run(const RunOptions& options) const { return tessera::run(*this, options); }

Relation Plan::run(Holes holes) const {
  RunOptions options;
  options.holes = holes;
  return tessera::run(*this, options);
}

}  // namespace tessera
