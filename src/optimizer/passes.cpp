#include "optimizer/passes.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "optimizer/simplify.h"

namespace tessera::optimizer {
namespace {

/// How many operators are placed at once: the search takes longer than they are many.
constexpr std::size_t most_together = 200;

void translate(Planning& planning) {
  const OptimizerOptions& options = planning.options;
  const ia::PlaceInput dealt = ia::dealt_out(options.sites);
  planning.plans = ia::translate(planning.logical, [&](const Plan& input) {
    const std::optional<Placement> placed = options.placed ? options.placed(input) : std::nullopt;
    return placed ? *placed : dealt(input);
  });
}

void simplify_plans(Planning& planning) {
  Simplified simplified = simplify(planning.plans, planning.options.disabled);
  planning.plans = std::move(simplified.plans);
  planning.rules = std::move(simplified.rules);
}

void place_operators(Planning& planning) {
  if (planning.options.sites == 1) return;  // there is nothing to choose
  planning.placed = place(planning.plans, planning.options, most_together);
  planning.plans = planning.placed.plans;
}

void gather(Planning& planning) {
  if (!planning.options.results_everywhere) return;
  for (ia::Plan& plan : planning.plans)
    if (!plan.placement().is_all()) plan = plan.broadcast();
}

void fuse(Planning& planning) { planning.plans = ia::fused(planning.plans); }

void verify(const Planning& planning, const char* pass) {
  TESSERA_INVARIANT(planning.plans.size() == planning.logical.size(), "{} made {} plans of {}",
                    pass, planning.plans.size(), planning.logical.size());
  for (std::size_t i = 0; i < planning.plans.size(); ++i) {
    const ia::Plan& plan = planning.plans[i];
    TESSERA_INVARIANT(plan.logical().type() == planning.logical[i].type(), "{} made {} of {}", pass,
                      to_string(plan.logical().type()), to_string(planning.logical[i].type()));
    TESSERA_INVARIANT(plan.sites() == planning.options.sites && plan.pending().empty(),
                      "{} left a result on {} sites of {}, or in summands", pass, plan.sites(),
                      planning.options.sites);
  }
}

}  // namespace

const std::vector<Pass>& passes() {
  static const std::vector<Pass> all = {
      // Each operator by itself, with the moves that make it right wherever its inputs lie.
      {"translate", translate, false},
      // The rules that always pay, until none applies any more.
      {"simplify", simplify_plans, true},
      // Where each operator works, searched by cost.
      {"place", place_operators, true},
      // Results to all sites, if they are wanted there.
      {"gather", gather, false},
      // Joins together with the aggregations of their products.
      {"fuse", fuse, true},
  };
  return all;
}

void take_pass(Planning& planning, const char* name, const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  planning.passes.push_back({name, taken.count()});
  verify(planning, name);
}

Planning planned(const std::vector<Plan>& plans, const OptimizerOptions& options) {
  TESSERA_REQUIRE(PlanError, options.sites >= 1 && options.sites <= max_sites,
                  "invalid number of sites {}; expected 1 to {}", options.sites, max_sites);
  TESSERA_REQUIRE(PlanError, !plans.empty(), "there are no plans to optimize");
  if (!options.disabled.empty()) {
    const std::vector<std::string> known = known_rules();
    for (const std::string& name : options.disabled)
      TESSERA_REQUIRE(PlanError, std::find(known.begin(), known.end(), name) != known.end(),
                      "cannot disable rule \"{}\": not found; available: {}", name,
                      fmt::join(known, ", "));
  }
  Planning planning{plans, options};
  for (const Pass& pass : passes()) {
    if (pass.may_be_disabled && options.disabled.contains(pass.name)) continue;
    take_pass(planning, pass.name, [&] { pass.apply(planning); });
  }
  return planning;
}

}  // namespace tessera::optimizer
