#include "optimizer/simplify.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <unordered_map>

#include "base/check.h"
#include "ia/contents.h"
#include "ia/plan_node.h"
#include "optimizer/rules/laws.h"
#include "optimizer/rules/rewriting.h"

namespace tessera::optimizer {
namespace {

bool is_filter(const ia::Plan& plan) { return root<ia::Filter>(plan) != nullptr; }
bool is_map(const ia::Plan& plan) { return root<ia::Map>(plan) != nullptr; }

/// Stages that tiles go through in one operator. More than so many are not put together: there is
/// nothing left to gain, and each operator of a long chain would hold all that are below it.
constexpr std::size_t most_stages = 32;

std::size_t stages_of(const ia::Plan& plan) {
  if (const auto* join = root<ia::Join>(plan)) return join->projection.size();
  const auto* map = root<ia::Map>(plan);
  if (map == nullptr) return 0;
  std::size_t most = 0;
  for (const ia::Branch& branch : map->branches) most = std::max(most, branch.arrays.size());
  return most;
}

bool is_aggregation(const ia::Plan& plan) { return root<ia::Aggregate>(plan) != nullptr; }

const char* always_pays(const ia::Plan&) { return nullptr; }

const char* too_long(const ia::Plan& plan) {
  return stages_of(plan) + stages_of(root<ia::Map>(plan)->input) > most_stages
             ? "the operators have too many stages to be one"
             : nullptr;
}

/// The search places joins by the components of their key: none may be renamed.
const char* renames_a_join(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  if (root<ia::Join>(map->input) != nullptr && map->branches.front().keys)
    return "the map changes the keys by which the join is placed";
  return too_long(plan);
}

const char* makes_no_less(const ia::Plan& plan) {
  const ia::Plan& input = root<ia::Map>(plan)->input;
  if (root<ia::Aggregate>(input) == nullptr) return nullptr;  // the rule says so
  const bool less = 2 * ia::floats_of(plan.type().columns) <= ia::floats_of(input.type().columns);
  return less ? nullptr : "the map does not make its tiles half as large";
}

/// Simplifies from the inputs up: when an operator's turn comes, nothing more applies below it. So
/// each is rebuilt once, and what a rule puts below the operator it makes is new and can be looked
/// at by itself.
class Simplifier {
 public:
  /// What becomes of the rules is told.
  Simplifier(std::vector<PayingRule> steps, Simplified& told)
      : steps_(std::move(steps)), told_(told) {}

  std::vector<ia::Plan> run(const std::vector<ia::Plan>& plans) {
    const std::vector<ia::Plan> nodes = ia::in_order(plans);
    readers_ = ia::count_readers(plans);
    std::unordered_map<const ia::Plan::Node*, ia::Plan> made;
    for (const ia::Plan& node : nodes) {
      std::vector<ia::Plan> inputs;
      for (const ia::Plan& input : inputs_of(operator_of(node)))
        inputs.push_back(made.at(&input.node()));
      // Where it does not fit above what was made, all of it stays as it was.
      const std::optional<ia::Plan> over = over_inputs(node, inputs);
      const ia::Plan simple = over ? rewritten(*over) : node;
      readers_[&simple.node()] = readers_[&node.node()];
      made.emplace(&node.node(), settled(simple));
    }
    std::vector<ia::Plan> result;
    for (const ia::Plan& plan : plans) result.push_back(made.at(&plan.node()));
    return result;
  }

 private:
  std::optional<ia::Plan> over_inputs(const ia::Plan& node, const std::vector<ia::Plan>& inputs) {
    const std::vector<ia::Plan> before = inputs_of(operator_of(node));
    const bool same = std::equal(inputs.begin(), inputs.end(), before.begin(),
                                 [](const auto& a, const auto& b) { return a.is_same(b); });
    if (same) return node;
    try {
      const ia::Plan made = ia::make(ia::with_inputs(operator_of(node), inputs), node.logical());
      if (made.pending() == node.pending()) return made;
      ++told_.refusals["the partial sums would differ"];
    } catch (const PlanError& error) {  // groups would not lie together, for one
      ++told_.refusals[error.what()];
    }
    return std::nullopt;
  }

  /// An operator whose inputs are settled, after all rules that apply to it.
  ia::Plan rewritten(const ia::Plan& node) {
    const bool own = inputs_are_own(node);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].is_for(node)) continue;
      RuleUse& use = told_.rules[i];
      if (!own) {
        ++use.refusals["another operator reads the same input"];
      } else if (const char* why = steps_[i].why_not(node); why != nullptr) {
        ++use.refusals[why];
      } else if (const std::optional<ia::Plan> made = fired(steps_[i].rule, node, use)) {
        return settled_below(*made);
      }
    }
    return node;
  }

  /// What a rule made, with what is new in it simplified too.
  ia::Plan settled_below(const ia::Plan& node) {
    if (settled_.contains(&node.node())) return node;
    std::vector<ia::Plan> inputs;
    for (const ia::Plan& input : inputs_of(operator_of(node)))
      inputs.push_back(settled_below(input));
    const std::optional<ia::Plan> over = over_inputs(node, inputs);
    return settled(over ? rewritten(*over) : node);
  }

  /// Runs a rule at a node: times it, counts it, and verifies what it made.
  static std::optional<ia::Plan> fired(const Rule& rule, const ia::Plan& node, RuleUse& use) {
    const auto start = std::chrono::steady_clock::now();
    Rewrite made = rule.apply(node);
    use.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!made) {
      ++use.refusals[made.why_not];
      return std::nullopt;
    }
    TESSERA_INVARIANT(made.plan->type() == node.type(), "{} made {} of {}", rule.name,
                      to_string(made.plan->type()), to_string(node.type()));
    ++use.fired;
    return made.plan;
  }

  /// Results that others read too are computed anyway: they are not computed again in another way.
  /// What is above a move leaves it there, but for an aggregation.
  bool inputs_are_own(const ia::Plan& node) const {
    const bool passes_moves = is_aggregation(node);
    const std::vector<ia::Plan> inputs = inputs_of(operator_of(node));
    return std::all_of(inputs.begin(), inputs.end(), [&](const ia::Plan& input) {
      if (is_move(input)) return !passes_moves || inputs_are_own(input);
      const auto count = readers_.find(&input.node());
      return count == readers_.end() || count->second == 1;
    });
  }

  ia::Plan settled(const ia::Plan& node) {
    settled_.emplace(&node.node(), node);
    return node;
  }

  const std::vector<PayingRule> steps_;
  Simplified& told_;
  ia::ReaderCounts readers_;  // none known: what was made has one
  std::unordered_map<const ia::Plan::Node*, ia::Plan> settled_;  // nothing more applies to them
};

}  // namespace

const std::vector<PayingRule>& rules_that_pay() {
  static const std::vector<PayingRule> rules = {
      {{"merge_filters", "R1-1. Filter(p) . Filter(q) == Filter(q and p)", merge_filters},
       is_filter,
       always_pays},
      {{"merge_maps", "R1-2. Map(h, f) . Map(k, g) == Map(h . k, f . g)", merge_maps},
       is_map,
       too_long},
      {{"filter_before_map", "R1-3. Filter(p) . Map(id, f) == Map(id, f) . Filter(p)",
        filter_before_map},
       is_filter,
       always_pays},
      {{"filter_before_aggregation", "R1-5. Filter(p) . Agg(g, +) == Agg(g, +) . Filter(p . g)",
        filter_before_aggregation},
       is_filter,
       always_pays},
      {{"filter_before_join",
        "R1-6. Filter(p and q and r) . Join(R, S) == Filter(r) . Join(Filter(p)(R), Filter(q)(S))",
        filter_before_join},
       is_filter,
       always_pays},
      {{"filter_before_move", "R2-2. Filter(p) . Move == Move . Filter(p)", filter_before_move},
       is_filter,
       always_pays},
      {{"map_before_move", "R2-3. Map(k, f) . Move == Move . Map(k, f)", map_before_move},
       is_map,
       always_pays},
      {{"map_before_aggregation",
        "R1-4. Map(id, f) . Agg(g, +) == Agg(g, +) . Map(id, f) if f distributes over +",
        map_before_aggregation},
       is_map,
       makes_no_less},
      {{"map_into_join", "R1-7. Map(h, f) . Join(g) == Join(f . g, h)", map_into_join},
       is_map,
       renames_a_join},
      {{"aggregate_before_rekey",
        "Agg(g, +) . Map(h, f) == Agg(h . g, +) . Map(id, f) if h chooses components",
        aggregate_before_rekey},
       is_aggregation,
       always_pays},
  };
  return rules;
}

std::vector<std::string> simplifying_rules() {
  std::vector<std::string> names;
  for (const PayingRule& paying : rules_that_pay()) names.push_back(paying.rule.name);
  return names;
}

Simplified simplify(const std::vector<ia::Plan>& plans, const std::set<std::string>& disabled) {
  Simplified result;
  std::vector<PayingRule> steps;
  for (const PayingRule& paying : rules_that_pay())
    if (!disabled.contains(paying.rule.name)) {
      steps.push_back(paying);
      result.rules.push_back({paying.rule.name});
    }
  result.plans = Simplifier(std::move(steps), result).run(plans);
  return result;
}

}  // namespace tessera::optimizer
