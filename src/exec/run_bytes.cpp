#include "exec/run_bytes.h"

#include "base/check.h"
#include "base/stop.h"
#include "exec/graph_bytes.h"
#include "exec/statement_memory.h"
#include "ia/plan_bytes.h"
#include "tra/plan_node.h"

namespace tessera {
namespace exec {

WrittenPlans::WrittenPlans(const PlannedRun::State& run) {
  writer.out().put_short(run.planning.sites).put_short(static_cast<std::int64_t>(run.results));
  writer.put_nodes(run.logical);
  writer.put(run.logical);
  bytes = writer.out().take();
}

std::string decisions(const PlannedRun::State& run, WrittenPlans& after) {
  ia::put(after.writer, run.planned->plans);
  put(after.writer.out(), *run.prepared->graph);
  return after.writer.out().take();
}

void take_decisions(PlannedRun::State& run, PlanReader& reader) {
  optimizer::Planning planned{run.logical, run.planning, ia::read_plans(reader)};
  TESSERA_REQUIRE(IoError, planned.plans.size() == run.logical.size(),
                  "{} is damaged: {} physical plans for {} plans", reader.in().what(),
                  planned.plans.size(), run.logical.size());
  for (const ia::Plan& plan : planned.plans)
    TESSERA_REQUIRE(IoError, plan.sites() == run.planning.sites && plan.pending().empty(),
                    "{} is damaged: a plan for {} sites in a run on {}", reader.in().what(),
                    plan.sites(), run.planning.sites);
  auto graph = std::make_shared<TaskGraph>(read_graph(reader.in(), planned.plans));
  reader.in().require_done();
  run.planned = std::move(planned);
  run.prepared = prepare(std::move(graph), run.context, run.results == Results::kept);
}

}  // namespace exec

std::string to_bytes(PlannedRun& planned) {
  PlannedRun::State& run = planned.state();
  run.plan();
  run.require_prepared();
  exec::WrittenPlans what(run);
  const std::string decided = exec::decisions(run, what);
  return enclosed(Written::run, what.bytes + decided);
}

PlannedRun planned_run_from_bytes(std::string_view bytes, const FindInput& find,
                                  const RunOptions& options) {
  const StopScope stop_scope(options.stop);
  exec::Context context = exec::context_of(options);
  const exec::StatementMemory memory(context.options.memory_limit);
  PackedReader in(opened(Written::run, bytes), written_plan);
  OptimizerOptions planning = planning_options(context);
  const auto sites = static_cast<int>(in.short_below(max_sites + 1));
  TESSERA_REQUIRE(PlanError, sites == planning.sites, "a plan for {} sites cannot run on {}", sites,
                  planning.sites);
  const auto results = static_cast<Results>(in.short_below(2));
  PlanReader reader(in, find);
  reader.read_nodes();
  auto state = std::make_unique<PlannedRun::State>(
      PlannedRun::State{reader.plans(), std::move(context), results, std::move(planning)});
  verify_before_running(state->logical, options.holes);
  exec::take_decisions(*state, reader);
  return PlannedRun(std::move(state));
}

}  // namespace tessera
