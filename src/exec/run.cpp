#include "tessera/run.h"

#include <unordered_map>

#include "base/check.h"
#include "exec/cluster.h"
#include "exec/local_transport.h"
#include "exec/scheduler.h"
#include "tessera/optimizer.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

/// Plans on one site without their moves, which would move nothing and stand between a join and the
/// aggregation that folds its products.
std::vector<ia::Plan> without_moves(const std::vector<ia::Plan>& plans) {
  std::unordered_map<const ia::Plan::Node*, ia::Plan> done;
  for (const ia::Plan& node : ia::in_order(plans)) {
    const ia::Operator& op = operator_of(node);
    std::vector<ia::Plan> inputs;
    for (const ia::Plan& input : inputs_of(op)) inputs.push_back(done.at(&input.node()));
    const bool moves =
        std::holds_alternative<ia::Broadcast>(op) || std::holds_alternative<ia::Shuffle>(op);
    done.emplace(&node.node(), moves            ? inputs.front()
                               : inputs.empty() ? node
                                                : make(with_inputs(op, inputs), node.logical()));
  }
  std::vector<ia::Plan> result;
  for (const ia::Plan& plan : plans) result.push_back(done.at(&plan.node()));
  return result;
}

/// The search looks at all of a plan at once. What is unrolled to more operators than this is run
/// as it was written.
constexpr std::size_t most_optimized = 1000;

/// How plans are carried out when nobody says.
std::vector<ia::Plan> physical_plans(const std::vector<Plan>& plans, const RunOptions& options) {
  const exec::Cluster* cluster = exec::cluster();
  const int sites = cluster != nullptr ? cluster->size() : options.sites;
  TESSERA_REQUIRE(PlanError, sites >= 1 && sites <= max_sites,
                  "a run on {} sites; there may be 1 to {}", sites, max_sites);
  const std::vector<ia::Plan> translated = ia::translate(plans, ia::dealt_out(sites));
  if (!options.optimize || ia::in_order(translated).size() > most_optimized) {
    return sites == 1 ? without_moves(translated) : translated;
  }
  OptimizerOptions optimizer;
  optimizer.sites = sites;
  const OptimizedPlan optimized = optimize(plans, optimizer);
  return sites == 1 ? without_moves(optimized.plans) : optimized.plans;
}

/// What a run leaves: who has which outputs.
struct Finished {
  std::unique_ptr<const exec::TaskGraph> graph;  // which the scheduler refers to
  std::unique_ptr<exec::Scheduler> scheduler;
  std::vector<bool> mine;
};

Finished carry_out(const std::vector<ia::Plan>& plans, RunOptions options, RunReport* report) {
  TESSERA_REQUIRE(PlanError, options.threads >= 0, "a run on {} threads", options.threads);
  TESSERA_REQUIRE(PlanError, !plans.empty(), "there is nothing to run");
  for (const ia::Plan& plan : plans) verify_before_running(plan.logical(), options.holes);
  Finished done{std::make_unique<const exec::TaskGraph>(exec::expand(plans)), nullptr, {}};
  exec::Cluster* cluster = exec::cluster();
  for (int site = 0; site < done.graph->sites; ++site)
    done.mine.push_back(cluster == nullptr || cluster->owner(site) == cluster->rank());
  if (cluster != nullptr && options.threads == 0)
    options.threads = std::max(1, exec::all_cores() / cluster->local_size());
  std::unique_ptr<exec::Transport> transport;
  if (cluster != nullptr)
    transport = cluster->open_run(*done.graph);
  else
    transport = std::make_unique<exec::LocalTransport>(done.graph->sites);
  done.scheduler = std::make_unique<exec::Scheduler>(*done.graph, done.mine, options, *transport);
  done.scheduler->run();
  if (report != nullptr) {
    *report = {};
    report->floats_moved = transport->floats_moved();
    if (const auto* local = dynamic_cast<const exec::LocalTransport*>(transport.get())) {
      report->sent = local->traffic().sent;
      report->received = local->traffic().received;
    }
    report->flops = done.scheduler->meter().flops();
    report->tasks = done.scheduler->meter().tasks();
    report->peak_bytes = done.scheduler->peak_bytes();
    report->seconds = done.scheduler->meter().seconds();
  }
  return done;
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

}  // namespace

std::vector<Relation> run(const std::vector<ia::Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  std::vector<ia::Plan> gathered = plans;
  if (exec::cluster() != nullptr)
    for (ia::Plan& plan : gathered)
      if (!plan.placement().is_all()) plan = plan.broadcast();
  const Finished done = carry_out(gathered, options, report);
  std::vector<std::vector<Tuple>> tuples = results_of(done, plans.size());
  std::vector<Relation> results;
  for (std::size_t i = 0; i < plans.size(); ++i)
    results.push_back(settle(plans[i].logical(), std::move(tuples[i]), options.holes));
  return results;
}

std::vector<LocalPart> run_in_place(const std::vector<ia::Plan>& plans, const RunOptions& options,
                                    RunReport* report) {
  const Finished done = carry_out(plans, options, report);
  std::vector<std::vector<Tuple>> tuples = results_of(done, plans.size());
  std::vector<LocalPart> parts;
  for (std::size_t i = 0; i < plans.size(); ++i)
    parts.push_back({plans[i].type(), plans[i].placement(), std::move(tuples[i])});
  return parts;
}

std::vector<Relation> run(const std::vector<Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  for (const Plan& plan : plans) verify_before_running(plan, options.holes);
  return run(physical_plans(plans, options), options, report);
}

Relation run(const ia::Plan& plan, const RunOptions& options, RunReport* report) {
  return run(std::vector<ia::Plan>{plan}, options, report).front();
}

Relation run(const Plan& plan, const RunOptions& options, RunReport* report) {
  return run(std::vector<Plan>{plan}, options, report).front();
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
