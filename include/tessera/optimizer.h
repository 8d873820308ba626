#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tessera/ia.h"

namespace tessera {

/// What plans are compared by.
enum class Objective {
  /// Seconds: what really crosses between sites given where tuples lie, at the admission of the
  /// most
  /// loaded site, and the flops of the busiest one.
  exact,
  /// Floats, as printed in Yuan et al., section 5.3: a broadcast of f floats to s sites costs
  /// f * s, a shuffle f, and nothing else counts.
  published,
};

/// What the sites of a cluster can do, for the exact objective.
struct Machine {
  double flops = 4e10;         // of a site in a second
  double memory_bytes = 1e10;  // that kernels of a site read and write in a second
  double link_bytes = 1.25e9;  // that a site sends, and receives, in a second
  double fabric_share = 0.25;  // of the links' sum, that the network between them carries extra
};

struct OptimizerOptions {
  int sites = 1;
  Objective objective = Objective::exact;
  Machine machine = {};
  /// Where inputs lie; dealt out over the sites if nothing is said. An input that may lie
  /// wherever it is best, without copies, has no placement.
  std::function<std::optional<Placement>(const Plan& input)> placed = {};
  /// Rules and algorithms that may not be used, by name (see known_rules).
  std::set<std::string> disabled = {};
  bool alternatives = false;        // also find what the named algorithms would cost
  bool results_everywhere = false;  // each site gets all results, wherever they are computed
};

/// What one operator of a physical plan costs.
struct OperatorCost {
  double floats_moved = 0;  // between sites
  double most_loaded = 0;   // floats sent or received by one site, at most
  double published = 0;     // floats, by the published model
  double flops = 0;         // over all sites
  double bytes = 0;         // that kernels read and write, or that cross
  double seconds = 0;       // of the most loaded and the busiest site
};

struct PlanCost {
  std::vector<OperatorCost> operators;  // in the order of ia::in_order
  OperatorCost total;
  bool exact = true;  // no: some relation could not be listed before running
  double value(Objective objective) const {
    return objective == Objective::exact ? total.seconds : total.published;
  }
};
PlanCost cost_of(const ia::Plan& plan, const Machine& machine = {});
/// Of several results; what they share counts once.
PlanCost cost_of(const std::vector<ia::Plan>& plans, const Machine& machine = {});

struct Alternative {
  std::string name;              // "broadcast left (BMM)"
  std::optional<PlanCost> cost;  // none: it cannot be used
  std::string why;               // it was not chosen
};

/// What a rule that rewrites plans before the search did.
struct RuleUse {
  std::string rule;
  int fired = 0;
  double seconds = 0;                        // spent on it, fired or not
  std::map<std::string, int> refusals = {};  // why it did not apply, and how often
};

/// A step on the way from a statement to the tasks that compute it.
struct PassInfo {
  std::string name;
  std::string what;              // it does
  bool may_be_disabled = false;  // by name, as rules are
};
/// What such a step took.
struct PassUse {
  std::string pass;
  double seconds = 0;
  std::map<std::string, int> refusals = {};  // why it left operators as they were, and how often
};

std::string to_string(const std::vector<PassUse>& passes);  // "passes: place 2.0 ms, fuse 20 us"
/// What rules and passes did, and why they did not apply, a line each.
std::string planning_text(const std::vector<RuleUse>& rules, const std::vector<PassUse>& passes);

struct OptimizedPlan {
  std::vector<ia::Plan> plans;  // one for each result
  PlanCost cost;
  Objective objective = Objective::exact;
  std::string algorithm = {};  // of the costliest join, as the alternatives are named
  std::vector<Alternative> alternatives = {};
  std::vector<RuleUse> rules = {};   // all that were not disabled
  std::vector<PassUse> passes = {};  // from the logical plan to this one, in order
  double planning_seconds = 0;

  const ia::Plan& plan() const { return plans.front(); }
  /// A tree with placements and costs, and the alternatives; also, if that is wanted, what each
  /// pass took and why rules did not apply.
  std::string explain(bool verbose = false) const;
  std::string json() const;
};

/// The names that may be disabled: of rules that rewrite plans before the search, of ways to
/// compute joins and aggregations, and of whole passes.
std::vector<std::string> known_rules();
/// These names as they are among the known ones, whatever their case. PlanError, with the names
/// that are like it, or those that there are, if one of them is not.
std::set<std::string> as_known_rules(const std::set<std::string>& names);

/// The cheapest physical plan over all placements of every operator's result.
OptimizedPlan optimize(const Plan& plan, const OptimizerOptions& options = {});
/// The cheapest plan of several results that share what they have in common.
OptimizedPlan optimize(const std::vector<Plan>& plans, const OptimizerOptions& options = {});

}  // namespace tessera
