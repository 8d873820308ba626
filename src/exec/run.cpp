#include "tessera/run.h"

#include <unordered_map>

#include "base/check.h"
#include "exec/local_transport.h"
#include "exec/scheduler.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

/// A plan on one site without its moves, which would move nothing and stand between a join and the
/// aggregation that folds its products.
ia::Plan without_moves(const ia::Plan& plan) {
  std::unordered_map<const ia::Plan::Node*, ia::Plan> done;
  for (const ia::Plan& node : ia::in_order(plan)) {
    const ia::Operator& op = operator_of(node);
    std::vector<ia::Plan> inputs;
    for (const ia::Plan& input : inputs_of(op)) inputs.push_back(done.at(&input.node()));
    const bool moves =
        std::holds_alternative<ia::Broadcast>(op) || std::holds_alternative<ia::Shuffle>(op);
    done.emplace(&node.node(), moves            ? inputs.front()
                               : inputs.empty() ? node
                                                : make(with_inputs(op, inputs), node.logical()));
  }
  return done.at(&plan.node());
}

/// How a plan is carried out when nobody says.
ia::Plan physical_plan(const Plan& plan, const RunOptions& options) {
  TESSERA_REQUIRE(PlanError, options.sites >= 1, "a run on {} sites", options.sites);
  const ia::Plan translated = ia::translate(plan, ia::dealt_out(options.sites));
  return options.sites == 1 ? without_moves(translated) : translated;
}

}  // namespace

Relation run(const ia::Plan& plan, const RunOptions& options, RunReport* report) {
  TESSERA_REQUIRE(PlanError, options.threads >= 0, "a run on {} threads", options.threads);
  verify_before_running(plan.logical(), options.holes);
  const exec::TaskGraph graph = exec::expand(plan);
  exec::LocalTransport transport(graph.sites);
  exec::Scheduler scheduler(graph, std::vector<bool>(graph.sites, true), options, transport);
  scheduler.run();
  std::vector<Tuple> tuples;
  for (const exec::TaskGraph::Output& output : graph.outputs)
    tuples.push_back({graph.keys[output.key], scheduler.take(output.value)});
  if (report != nullptr) {
    const ia::Traffic& traffic = transport.traffic();
    *report = {traffic.total,
               traffic.sent,
               traffic.received,
               scheduler.meter().flops(),
               scheduler.meter().tasks(),
               scheduler.peak_bytes(),
               scheduler.meter().seconds()};
  }
  return settle(plan.logical(), std::move(tuples), options.holes);
}

Relation run(const Plan& plan, const RunOptions& options, RunReport* report) {
  verify_before_running(plan, options.holes);
  return run(physical_plan(plan, options), options, report);
}

Relation Plan::run(const RunOptions& options) const { return tessera::run(*this, options); }

Relation Plan::run(Holes holes) const {
  RunOptions options;
  options.holes = holes;
  return tessera::run(*this, options);
}

}  // namespace tessera
