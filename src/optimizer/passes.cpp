#include "optimizer/passes.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "optimizer/simplify.h"

namespace tessera::optimizer {
namespace {

/// How many operators are placed at once: the search takes longer than they are many.
constexpr std::size_t largest_part = 200;

void translate(Planning& planning) {
  const OptimizerOptions& options = planning.options;
  const ia::PlaceInput dealt = ia::round_robin(options.sites);
  planning.plans = ia::translate(planning.logical, [&](const Plan& input) {
    const std::optional<Placement> placed = options.placed ? options.placed(input) : std::nullopt;
    return placed ? *placed : dealt(input);
  });
}

void simplify_plans(Planning& planning) {
  Simplified simplified = simplify(planning.plans, planning.options.disabled);
  planning.plans = std::move(simplified.plans);
  planning.rules = std::move(simplified.rules);
  planning.refusals = std::move(simplified.refusals);
}

void place_operators(Planning& planning) {
  if (planning.options.sites == 1) return;  // there is nothing to choose
  planning.placed = place(planning.plans, planning.options, largest_part);
  planning.plans = planning.placed.plans;
}

void gather(Planning& planning) {
  if (!planning.options.results_everywhere) return;
  for (ia::Plan& plan : planning.plans)
    if (!plan.placement().is_all()) plan = plan.broadcast();
}

void fuse(Planning& planning) { planning.plans = ia::fused(planning.plans, &planning.refusals); }

void verify(const Planning& planning, const std::string& pass) {
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

bool is_disabled(const Pass& pass, const OptimizerOptions& options) {
  return pass.info.may_be_disabled && options.disabled.contains(pass.info.name);
}

void take(Planning& planning, const Pass& pass) {
  if (is_disabled(pass, planning.options)) return;
  take_pass(planning.passes, pass.info, [&] { pass.apply(planning); });
  planning.passes.back().refusals = std::exchange(planning.refusals, {});
  verify(planning, pass.info.name);
}

}  // namespace

const std::vector<Pass>& passes() {
  static const std::vector<Pass> all = {
      {{"translate", "each operator by itself, with moves that make it right wherever inputs are",
        false},
       translate},
      {{"simplify", "rules that always pay, until none applies", true}, simplify_plans},
      {{"place", "where each operator works: a search by cost", true}, place_operators},
      {{"gather", "results to all sites, if they are wanted there", false}, gather},
      {{"fuse", "joins together with the aggregations of their products", true}, fuse},
  };
  return all;
}

void take_pass(std::vector<PassUse>& uses, const PassInfo& pass,
               const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  uses.push_back({pass.name, taken.count()});
}

Planning planned(const std::vector<Plan>& plans, const OptimizerOptions& options) {
  const std::string refused = sites_refused(options.sites);
  TESSERA_REQUIRE(PlanError, refused.empty(), "{}", refused);
  TESSERA_REQUIRE(PlanError, !plans.empty(), "there are no plans to optimize");
  Planning planning{plans, options};
  planning.options.disabled = tessera::as_known_rules(options.disabled);
  for (const Pass& pass : passes()) take(planning, pass);
  return planning;
}

Planning finished(const std::vector<ia::Plan>& plans, const OptimizerOptions& options,
                  std::string_view behind) {
  Planning planning{{}, options, plans};
  for (const ia::Plan& plan : plans) planning.logical.push_back(plan.logical());
  bool is_behind = false;
  for (const Pass& pass : passes()) {
    if (is_behind) take(planning, pass);
    is_behind = is_behind || pass.info.name == behind;
  }
  return planning;
}

}  // namespace tessera::optimizer
