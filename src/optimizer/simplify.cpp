#include "optimizer/simplify.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "base/check.h"
#include "ia/contents.h"
#include "optimizer/rules/rewriting.h"
#include "optimizer/rules/rule.h"

namespace tessera::optimizer {
namespace {

using Pays = bool (*)(const ia::Plan& plan);

bool always(const ia::Plan&) { return true; }

/// The search places joins by the components of their key: none may be renamed.
bool keeps_the_key(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  return map != nullptr && !map->branches.front().keys;
}

bool makes_less(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  return map != nullptr &&
         2 * ia::floats_of(plan.type().columns) <= ia::floats_of(map->input.type().columns);
}

/// The rules that pay, and where. In this order at each operator.
const std::vector<std::pair<std::string, Pays>>& rules_that_pay() {
  static const std::vector<std::pair<std::string, Pays>> rules = {
      {"merge_filters", always},        {"merge_maps", always},
      {"filter_before_map", always},    {"filter_before_aggregation", always},
      {"filter_before_join", always},   {"filter_before_move", always},
      {"map_before_move", always},      {"map_before_aggregation", makes_less},
      {"map_into_join", keeps_the_key},
  };
  return rules;
}

const Rule& rule_of(const std::string& name) {
  const auto found = std::find_if(all_rules().begin(), all_rules().end(),
                                  [&](const Rule& rule) { return rule.name == name; });
  TESSERA_INVARIANT(found != all_rules().end(), "there is no rule {}", name);
  return *found;
}

/// Results that others read too are computed anyway: they are not computed again in another way.
class Readers {
 public:
  explicit Readers(const std::vector<ia::Plan>& roots) {
    for (const ia::Plan& node : ia::in_order(roots))
      for (const ia::Plan& input : inputs_of(operator_of(node))) ++count_[&input.node()];
    for (const ia::Plan& root : roots) ++count_[&root.node()];
  }
  bool inputs_are_own(const ia::Plan& node) const {
    const std::vector<ia::Plan> inputs = inputs_of(operator_of(node));
    return std::all_of(inputs.begin(), inputs.end(), [&](const ia::Plan& input) {
      return is_move(input) || count_.at(&input.node()) == 1;
    });
  }

 private:
  std::unordered_map<const ia::Plan::Node*, int> count_;
};

/// Runs a rule at a node: times it, counts it, and verifies what it made.
bool fires(const Rule& rule, const ia::Plan& node, std::vector<ia::Plan>& plans, RuleUse& use) {
  const auto start = std::chrono::steady_clock::now();
  const Rewrites rewritten = rewrite_at(plans, node, rule);
  use.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!rewritten) return false;
  for (std::size_t i = 0; i < plans.size(); ++i)
    TESSERA_INVARIANT(rewritten.plans[i].type() == plans[i].type(), "{} made {} of {}", rule.name,
                      to_string(rewritten.plans[i].type()), to_string(plans[i].type()));
  plans = rewritten.plans;
  ++use.fired;
  return true;
}

}  // namespace

std::vector<std::string> simplifying_rules() {
  std::vector<std::string> names;
  for (const auto& [name, pays] : rules_that_pay()) names.push_back(name);
  return names;
}

Simplified simplify(std::vector<ia::Plan> plans, const std::set<std::string>& disabled) {
  struct Step {
    const Rule& rule;
    Pays pays;
  };
  Simplified result{std::move(plans), {}};
  std::vector<Step> steps;
  for (const auto& [name, pays] : rules_that_pay())
    if (!disabled.contains(name)) {
      steps.push_back({rule_of(name), pays});
      result.rules.push_back({name});
    }
  const auto once = [&] {
    const Readers readers(result.plans);
    for (const ia::Plan& node : ia::in_order(result.plans)) {
      const bool rewritable = root<ia::Map>(node) != nullptr || root<ia::Filter>(node) != nullptr;
      if (!rewritable || !readers.inputs_are_own(node)) continue;
      for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i].pays(node) && fires(steps[i].rule, node, result.plans, result.rules[i]))
          return true;
    }
    return false;
  };
  while (once()) {
  }
  return result;
}

}  // namespace tessera::optimizer
