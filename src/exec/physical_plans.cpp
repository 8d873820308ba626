#include "exec/physical_plans.h"

#include <unordered_map>

#include "base/check.h"
#include "exec/cluster.h"
#include "optimizer/simplify.h"
#include "tessera/optimizer.h"

namespace tessera::exec {
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

}  // namespace

std::vector<ia::Plan> physical_plans(const std::vector<Plan>& plans, const RunOptions& options) {
  const Cluster* running = cluster();
  const int sites = running != nullptr ? running->size() : options.sites;
  TESSERA_REQUIRE(PlanError, sites >= 1 && sites <= max_sites,
                  "a run on {} sites; there may be 1 to {}", sites, max_sites);
  const std::vector<ia::Plan> translated = ia::translate(plans, ia::dealt_out(sites));
  // On one site there is nothing to place.
  if (sites == 1)
    return without_moves(options.optimize ? optimizer::simplify(translated).plans : translated);
  if (!options.optimize || ia::in_order(translated).size() > most_optimized) return translated;
  OptimizerOptions optimizer;
  optimizer.sites = sites;
  return optimize(plans, optimizer).plans;
}

}  // namespace tessera::exec
