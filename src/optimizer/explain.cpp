#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/check.h"
#include "base/columns.h"
#include "base/quantities.h"
#include "ia/tree.h"
#include "tessera/optimizer.h"

namespace tessera {
namespace {

std::string where(const ia::Plan& plan) {
  return plan.placement().to_string() + (plan.pending().empty() ? "" : ", to be folded");
}

}  // namespace

std::string planning_text(const std::vector<RuleUse>& rules, const std::vector<PassUse>& passes) {
  std::vector<std::vector<std::string>> lines;
  const auto add = [&](const std::string& name, const std::map<std::string, int>& refusals) {
    for (const auto& [why, times] : refusals)
      lines.push_back({name, fmt::format("not applied x{}: {}", times, why)});
  };
  for (const RuleUse& use : rules) {
    if (use.fired > 0) lines.push_back({use.rule, fmt::format("applied x{}", use.fired)});
    add(use.rule, use.refusals);
  }
  for (const PassUse& use : passes) add(use.pass, use.refusals);
  const std::string text = lines.empty() ? "" : "rules\n" + in_columns(lines);
  return text + to_string(passes) + "\n";
}

std::string to_string(const std::vector<PassUse>& passes) {
  std::vector<std::string> all;
  for (const PassUse& use : passes)
    all.push_back(fmt::format("{} {}", use.pass, seconds_text(use.seconds)));
  return fmt::format("passes: {}", fmt::join(all, ", "));
}

std::string OptimizedPlan::explain(bool verbose) const {
  std::unordered_map<const ia::Plan::Node*, const OperatorCost*> costs;
  const std::vector<ia::Plan> order = ia::in_order(plans);
  for (std::size_t i = 0; i < order.size(); ++i) costs[&order[i].node()] = &cost.operators[i];
  std::string text =
      ia::render_tree(plans, {"operator", "placement", "floats moved", "flops", "result"},
                      [&](const ia::Plan& node) -> std::vector<std::string> {
                        const OperatorCost& own = *costs.at(&node.node());
                        return {where(node), quantity_text(own.floats_moved),
                                quantity_text(own.flops), to_string(node.type())};
                      });
  text +=
      fmt::format("\n{} site{}: {} floats moved, {} flops, predicted {}{}\n", plan().sites(),
                  plan().sites() == 1 ? "" : "s", sum_text(cost.total.floats_moved),
                  sum_text(cost.total.flops), seconds_text(cost.total.seconds),
                  cost.exact ? "" : " (an estimate: some relations are too large to enumerate)");
  if (objective == Objective::published)
    text += fmt::format("published cost: {} floats\n", quantity_text(cost.total.published));
  std::vector<std::string> fired;
  for (const RuleUse& use : rules)
    if (use.fired > 0) fired.push_back(fmt::format("{} ({})", use.rule, use.fired));
  if (!fired.empty() && !verbose) text += fmt::format("rewritten by {}\n", fmt::join(fired, ", "));
  if (!algorithm.empty()) text += fmt::format("chosen: {}\n", algorithm);
  for (const Alternative& other : alternatives) {
    text += fmt::format("  {:<38}", other.name);
    if (other.cost)
      text += fmt::format("{:>9} floats {:>9}  ", quantity_text(other.cost->total.floats_moved),
                          seconds_text(other.cost->total.seconds));
    text += other.why + "\n";
  }
  return verbose ? text + planning_text(rules, passes) : text;
}

std::string OptimizedPlan::json() const {
  using nlohmann::ordered_json;
  std::unordered_map<const ia::Plan::Node*, std::size_t> ids;
  ordered_json operators = ordered_json::array();
  const std::vector<ia::Plan> order = ia::in_order(plans);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ia::Plan& node = order[i];
    ids[&node.node()] = i;
    ordered_json inputs = ordered_json::array();
    for (const ia::Plan& input : ia::inputs_of(ia::operator_of(node)))
      inputs.push_back(ids.at(&input.node()));
    operators.push_back({{"id", i},
                         {"operator", ia::describe(node)},
                         {"inputs", inputs},
                         {"type", to_string(node.type())},
                         {"placement", where(node)},
                         {"floats_moved", cost.operators[i].floats_moved},
                         {"flops", cost.operators[i].flops},
                         {"seconds", cost.operators[i].seconds}});
  }
  ordered_json results = ordered_json::array();
  for (const ia::Plan& result : plans) results.push_back(ids.at(&result.node()));
  ordered_json others = ordered_json::array();
  for (const Alternative& other : alternatives) {
    ordered_json entry{{"name", other.name}};
    if (other.cost) {
      entry["transfer_floats"] = other.cost->total.floats_moved;
      entry["published_floats"] = other.cost->total.published;
      entry["seconds"] = other.cost->total.seconds;
    } else {
      for (const char* unknown : {"transfer_floats", "published_floats", "seconds"})
        entry[unknown] = nullptr;
    }
    entry["why"] = other.why;
    others.push_back(entry);
  }
  ordered_json uses = ordered_json::array();
  for (const RuleUse& use : rules) {
    if (use.fired == 0 && use.refusals.empty()) continue;
    uses.push_back({{"rule", use.rule},
                    {"fired", use.fired},
                    {"seconds", use.seconds},
                    {"refusals", use.refusals}});
  }
  ordered_json steps = ordered_json::array();
  for (const PassUse& use : passes)
    steps.push_back({{"pass", use.pass}, {"seconds", use.seconds}, {"refusals", use.refusals}});
  return ordered_json{{"sites", plan().sites()},
                      {"objective", objective == Objective::exact ? "exact" : "published"},
                      {"transfer_floats", cost.total.floats_moved},
                      {"published_floats", cost.total.published},
                      {"flops", cost.total.flops},
                      {"seconds", cost.total.seconds},
                      {"exact", cost.exact},
                      {"planning_seconds", planning_seconds},
                      {"passes", steps},
                      {"algorithm", algorithm},
                      {"results", results},
                      {"plan", operators},
                      {"rules", uses},
                      {"alternatives", others}}
      .dump(2);
}

}  // namespace tessera
