#include "exec/physical_plans.h"

#include "base/check.h"
#include "exec/cluster.h"
#include "optimizer/passes.h"

namespace tessera::exec {

OptimizerOptions planning_options(const RunOptions& options) {
  const Cluster* running = cluster();
  OptimizerOptions planning;
  planning.sites = running != nullptr ? running->size() : options.sites;
  TESSERA_REQUIRE(PlanError, planning.sites >= 1 && planning.sites <= max_sites,
                  "a run on {} sites; there may be 1 to {}", planning.sites, max_sites);
  if (!options.optimize) planning.disabled = {"simplify", "place"};
  return planning;
}

std::vector<ia::Plan> physical_plans(const std::vector<Plan>& plans, const RunOptions& options) {
  return optimizer::planned(plans, planning_options(options)).plans;
}

}  // namespace tessera::exec
