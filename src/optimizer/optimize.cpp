#include <chrono>

#include "base/check.h"
#include "optimizer/search.h"
#include "optimizer/skeleton.h"
#include "tessera/optimizer.h"

namespace tessera {

using namespace optimizer;

OptimizedPlan optimize(const Plan& plan, const OptimizerOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  TESSERA_REQUIRE(PlanError, options.sites >= 1, "a plan for {} sites", options.sites);
  const ia::PlaceInput dealt = ia::dealt_out(options.sites);
  const ia::Plan translated = ia::translate(plan, [&](const Plan& input) {
    const std::optional<Placement> placed = options.placed ? options.placed(input) : std::nullopt;
    return placed ? *placed : dealt(input);
  });
  const Skeleton skeleton = skeleton_of(translated);
  Search search(skeleton, options);
  std::optional<ia::Plan> found = search.run();
  TESSERA_INVARIANT(found.has_value(), "no placement was found for\n{}", plan.explain());
  OptimizedPlan result{*found, cost_of(*found, options.machine), options.objective};
  result.planning_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace tessera
