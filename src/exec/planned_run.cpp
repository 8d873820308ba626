#include "exec/planned_run.h"

#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "base/stop.h"
#include "exec/graph_flaws.h"
#include "exec/results_to_come.h"
#include "exec/run_bytes.h"
#include "exec/statement_memory.h"
#include "tra/plan_node.h"

// The one place where plans are made ready to run: what runs, forecasts or explains them takes what
// is made here.

namespace tessera {
namespace {

bool has_tuples(const Plan& plan) {
  const auto* input = std::get_if<op::Input>(&operator_of(plan));
  return input == nullptr || input->relation || input->source;
}

bool has_data(const std::vector<Plan>& plans) {
  const std::vector<Plan> all = in_order(plans);
  return std::all_of(all.begin(), all.end(), has_tuples);
}

}  // namespace

OptimizerOptions planning_options(const exec::Context& context) {
  OptimizerOptions planning;
  planning.sites = context.engine->sites(context.options);
  planning.disabled = context.options.disabled;
  if (!context.options.optimize) planning.disabled.insert({"simplify", "place"});
  return planning;
}

OptimizerOptions planning_options(const RunOptions& options) {
  return planning_options(exec::context_of(options));
}

PlannedRun plan_run(const std::vector<Plan>& plans, const RunOptions& options, Results results) {
  exec::Context context = exec::context_of(options);
  OptimizerOptions planning = planning_options(context);
  return plan_run(plans, std::move(context), results, std::move(planning));
}

PlannedRun plan_run(const std::vector<Plan>& plans, const RunOptions& options, Results results,
                    OptimizerOptions planning) {
  return plan_run(plans, exec::context_of(options), results, std::move(planning));
}

PlannedRun plan_run(const std::vector<Plan>& plans, exec::Context context, Results results,
                    OptimizerOptions planning) {
  const StopScope stop_scope(context.options.stop);
  verify_before_running(plans, context.options.holes);
  const bool together = context.engine->processes() > 1;
  planning.results_everywhere = together && results == Results::kept;
  auto state = std::make_unique<PlannedRun::State>(
      PlannedRun::State{plans, std::move(context), results, std::move(planning)});
  if (!together) state->plan();
  return PlannedRun(std::move(state));
}

PlannedRun plan_run(const std::vector<ia::Plan>& plans, exec::Context context,
                    bool results_everywhere) {
  exec::require_results(plans);
  OptimizerOptions planning;
  planning.sites = plans.front().sites();
  planning.results_everywhere = results_everywhere && context.engine->processes() > 1;
  planning.disabled = {"fuse"};
  optimizer::Planning planned = optimizer::finished(plans, planning, "place");
  return PlannedRun(std::make_unique<PlannedRun::State>(
      PlannedRun::State{planned.logical, std::move(context), Results::kept, std::move(planning),
                        true, std::move(planned)}));
}

void PlannedRun::State::plan() {
  if (planned) return;
  const StopScope stop_scope(context.options.stop);
  const exec::StatementMemory memory(context.options.memory_limit);
  planned = optimizer::planned(logical, planning);
  if (planning.sites != context.engine->sites(context.options) || !has_data(logical)) return;
  make_tasks();
}

void PlannedRun::State::make_tasks() {
  optimizer::take_pass(planned->passes, exec::tasks_pass(), [&] {
    prepared = exec::prepare(planned->plans, context, results == Results::kept);
  });
  TESSERA_INVARIANT(exec::is_sound(*prepared->graph), "the tasks are not those of their plans");
}

void PlannedRun::State::require_prepared() {
  const int sites = context.engine->sites(context.options);
  TESSERA_REQUIRE(PlanError, planning.sites == sites || is_physical,
                  "a plan for {} sites cannot run on {}", planning.sites, sites);
  // What has no tuples is refused here.
  if (!prepared) make_tasks();
}

exec::Prepared PlannedRun::State::take_to_run() {
  if (context.engine->processes() > 1 && !is_physical) share();
  plan();
  require_prepared();
  return *std::exchange(prepared, std::nullopt);
}

void PlannedRun::State::share() {
  exec::WrittenPlans what(*this);
  what.writer.seal();
  const std::uint64_t mark = XXH3_64bits(what.bytes.data(), what.bytes.size());
  exec::Engine& engine = *context.engine;
  if (engine.rank() == 0) {
    plan();
    require_prepared();
    std::string decided;
    try {
      decided = exec::decisions(*this, what);
    } catch (const PlanError&) {
      // It has something that bytes cannot hold: nothing is said, and everybody decides the same.
    }
    engine.send_decisions(mark, decided);
    return;
  }
  const std::string decided = engine.receive_decisions(mark);
  if (decided.empty()) return;
  PackedReader in(decided, "the decision of the first process");
  PlanReader reader(in, {}, what.writer.tables());
  exec::take_decisions(*this, reader);
}

PlannedRun::PlannedRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlannedRun::PlannedRun(PlannedRun&&) noexcept = default;
PlannedRun& PlannedRun::operator=(PlannedRun&&) noexcept = default;
PlannedRun::~PlannedRun() = default;

const std::vector<ia::Plan>& PlannedRun::plans() const {
  state_->plan();
  return state_->planned->plans;
}

OptimizedPlan PlannedRun::optimized() const {
  state_->plan();
  return optimizer::with_costs(*state_->planned);
}

std::optional<MemoryForecast> PlannedRun::memory() const {
  state_->plan();
  if (!state_->prepared) return std::nullopt;
  return exec::forecast_of(*state_->prepared);
}

std::optional<std::vector<TupleSet<TileType>>> PlannedRun::results() const {
  state_->plan();
  if (!state_->prepared) return std::nullopt;
  return exec::results_to_come(*state_->prepared->graph, state_->logical,
                               state_->context.options.holes);
}

MemoryForecast forecast(const Plan& plan, const RunOptions& options, Results results) {
  PlannedRun planned = plan_run({plan}, options, results);
  planned.state().plan();
  planned.state().require_prepared();
  return exec::forecast_of(*planned.state().prepared);
}

std::string MemoryForecast::to_string() const {
  return fmt::format("memory: {} at most of {}, {} needed; {} read, {} spilled; {}",
                     bytes_text(peak), bytes_text(limit), bytes_text(needed), bytes_text(read),
                     bytes_text(spilled), order);
}

std::string to_json(const OptimizedPlan& plan, const std::optional<MemoryForecast>& memory) {
  using nlohmann::ordered_json;
  ordered_json json = ordered_json::parse(plan.json());
  json["memory"] = nullptr;
  if (memory)
    json["memory"] = {{"limit", memory->limit},           {"needed", memory->needed},
                      {"peak_bytes", memory->peak},       {"bytes_read", memory->read},
                      {"bytes_spilled", memory->spilled}, {"order", memory->order}};
  return json.dump(2);
}

}  // namespace tessera
