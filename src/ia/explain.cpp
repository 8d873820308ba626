#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "base/columns.h"
#include "ia/plan_node.h"
#include "ia/tree.h"

namespace tessera::ia {
namespace {

std::string list(const std::vector<int>& components) {
  return fmt::format("<{}>", fmt::join(components, ", "));
}

std::string list(const std::vector<KernelCall>& kernels) {
  std::vector<std::string> calls;
  for (const KernelCall& kernel : kernels)
    if (calls.empty() || kernel.to_string() != calls.back()) calls.push_back(kernel.to_string());
  return fmt::format("{}", fmt::join(calls, "; "));
}

std::string list(const Pipeline& stages) {
  std::vector<std::string> parts;
  for (const std::vector<Apply>& stage : stages) {
    std::vector<std::string> calls;
    for (const Apply& apply : stage) calls.push_back(apply.to_string());
    parts.push_back(fmt::format("{}", fmt::join(calls, "; ")));
  }
  return fmt::format("{}", fmt::join(parts, " then "));
}

struct Description {
  const Plan& plan;

  std::string operator()(const Input&) const {
    return tessera::describe(tessera::operator_of(plan.logical()));
  }
  std::string operator()(const Broadcast&) const { return "BCAST"; }
  std::string operator()(const Shuffle& move) const { return "SHUF " + move.to.to_string(); }
  std::string operator()(const Join& join) const {
    std::string text = fmt::format("Join {} = {} with {}", list(join.left_keys),
                                   list(join.right_keys), list(join.projection));
    if (join.keys) text += " to " + join.keys->to_string();
    return text;
  }
  std::string operator()(const Aggregate& aggregate) const {
    std::string text =
        fmt::format("Aggregate by {} with {}", list(aggregate.group_by), list(aggregate.kernels));
    if (!aggregate.finish.empty()) text += " then " + list(aggregate.finish);
    return text;
  }
  std::string operator()(const JoinAggregate& both) const {
    return (*this)(both.join()) + " + " + (*this)(both.aggregate);
  }
  std::string operator()(const Concat& concat) const {
    return fmt::format("Concat key {} along dimension {}", concat.key_component, concat.dimension);
  }
  std::string operator()(const Filter& filter) const {
    return "Filter " + filter.predicate.to_string();
  }
  std::string operator()(const Map& map) const {
    const Branch& first = map.branches.front();
    if (first.cut)
      return fmt::format("Map to {} pieces of {} along dimension {}", map.branches.size(),
                         first.cut->size, first.cut->dimension);
    if (map.branches.size() > 1)
      return fmt::format("Map to {} copies {} ...", map.branches.size(), first.keys->to_string());
    std::string text = "Map";
    if (first.keys) text += " " + first.keys->to_string();
    if (!first.arrays.empty()) text += " with " + list(first.arrays);
    return text;
  }
  std::string operator()(const Fill&) const { return "Fill in zeros"; }
};

}  // namespace

std::string describe(const Plan& plan) { return std::visit(Description{plan}, operator_of(plan)); }

std::string render_tree(const std::vector<Plan>& roots, const std::vector<std::string>& headings,
                        const Notes& notes) {
  const ReaderCounts readers = count_readers(roots);
  std::unordered_map<const Plan::Node*, int> shown;  // what is read more than once, by number
  std::vector<std::vector<std::string>> lines;
  if (!headings.empty()) lines.push_back(headings);
  std::vector<std::pair<Plan, int>> stack;
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) stack.emplace_back(*root, 0);
  while (!stack.empty()) {
    const auto [plan, depth] = stack.back();
    stack.pop_back();
    const std::string indent(2 * static_cast<std::size_t>(std::min(depth, 40)), ' ');
    const auto before = shown.find(&plan.node());
    if (before != shown.end()) {
      lines.push_back({fmt::format("{}(#{} again)", indent, before->second)});
      continue;
    }
    std::string mark;
    if (readers.at(&plan.node()) > 1) {
      const int number = static_cast<int>(shown.size()) + 1;
      shown[&plan.node()] = number;
      mark = fmt::format("#{} ", number);
    }
    lines.push_back({indent + mark + describe(plan)});
    for (std::string& note : notes(plan)) lines.back().push_back(std::move(note));
    const std::vector<Plan> inputs = inputs_of(operator_of(plan));
    for (auto input = inputs.rbegin(); input != inputs.rend(); ++input)
      stack.emplace_back(*input, depth + 1);
  }
  return in_columns(lines);
}

std::string Plan::explain() const {
  return render_tree({*this}, {}, [](const Plan& plan) {
    std::string where = fmt::format("{}, {}", to_string(plan.type()), plan.placement().to_string());
    if (!plan.pending().empty()) where += ", to be folded";
    return std::vector<std::string>{where};
  });
}

}  // namespace tessera::ia
