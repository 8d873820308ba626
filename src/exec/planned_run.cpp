#include "exec/planned_run.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "base/stop.h"
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

OptimizerOptions planning_options(const RunOptions& options) {
  OptimizerOptions planning;
  planning.sites = exec::default_engine()->sites(options);
  if (!options.optimize) planning.disabled = {"simplify", "place"};
  return planning;
}

PlannedRun plan_run(const std::vector<Plan>& plans, const RunOptions& options, Results results) {
  return plan_run(plans, options, results, planning_options(options));
}

PlannedRun plan_run(const std::vector<Plan>& plans, const RunOptions& options, Results results,
                    OptimizerOptions planning) {
  const StopScope heard(options.stop);
  exec::Context context = exec::context_of(options);
  const exec::StatementMemory memory(context.options.memory_limit);
  verify_before_running(plans, options.holes);
  planning.results_everywhere = context.engine->processes() > 1 && results == Results::kept;
  const int sites = context.engine->sites(options);
  auto state = std::make_unique<PlannedRun::State>(
      PlannedRun::State{plans, std::move(context), results, optimizer::planned(plans, planning)});
  if (planning.sites == sites && has_data(plans)) {
    // The last pass, above the optimizer's: tasks, and the order in which they run.
    const auto begin = std::chrono::steady_clock::now();
    state->prepared =
        exec::prepare(state->planning.plans, state->context, results == Results::kept);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    state->planning.passes.push_back({"tasks", taken.count()});
  }
  return PlannedRun(std::move(state));
}

exec::Prepared PlannedRun::State::take_to_run() {
  const int sites = context.engine->sites(context.options);
  TESSERA_REQUIRE(PlanError, planning.options.sites == sites,
                  "a plan for {} sites cannot run on {}", planning.options.sites, sites);
  // What has no tuples is refused here.
  if (!prepared) return exec::prepare(planning.plans, context, results == Results::kept);
  return *std::exchange(prepared, std::nullopt);
}

PlannedRun::PlannedRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlannedRun::PlannedRun(PlannedRun&&) noexcept = default;
PlannedRun& PlannedRun::operator=(PlannedRun&&) noexcept = default;
PlannedRun::~PlannedRun() = default;

const std::vector<ia::Plan>& PlannedRun::plans() const { return state_->planning.plans; }

OptimizedPlan PlannedRun::optimized() const { return optimizer::with_costs(state_->planning); }

std::optional<MemoryForecast> PlannedRun::memory() const {
  if (!state_->prepared) return std::nullopt;
  return exec::forecast_of(*state_->prepared);
}

MemoryForecast forecast(const Plan& plan, const RunOptions& options, Results results) {
  return exec::forecast_of(plan_run({plan}, options, results).state().take_to_run());
}

std::string MemoryForecast::to_string() const {
  return fmt::format("memory: {} at most of {}, {} needed; {} read, {} spilled; {}",
                     bytes_text(peak), bytes_text(limit), bytes_text(needed), bytes_text(read),
                     bytes_text(spilled), order);
}

}  // namespace tessera
