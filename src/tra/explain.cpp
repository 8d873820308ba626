#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

std::string list(const std::vector<int>& components) {
  return fmt::format("<{}>", fmt::join(components, ", "));
}

/// The kernels of a projection; columns are named only where there is a choice.
std::string list(const std::vector<Apply>& projection, std::size_t columns) {
  std::vector<std::string> calls;
  for (const Apply& apply : projection) {
    bool all = apply.columns.size() == columns;
    for (std::size_t i = 0; all && i < columns; ++i) all = apply.columns[i] == static_cast<int>(i);
    calls.push_back(apply.to_string());
    if (apply.kernel && !all)
      calls.back() += fmt::format(" of columns {}", fmt::join(apply.columns, ", "));
  }
  return fmt::format("{}", fmt::join(calls, "; "));
}

struct Description {
  std::string operator()(const op::Input& input) const {
    return "Input " + (input.name.empty() ? "(unnamed)" : input.name);
  }
  std::string operator()(const op::Aggregate& aggregate) const {
    std::vector<std::string> calls;
    for (const KernelCall& kernel : aggregate.kernels)
      if (calls.empty() || kernel.to_string() != calls.back()) calls.push_back(kernel.to_string());
    return fmt::format("Aggregate by {} with {}", list(aggregate.group_by), fmt::join(calls, "; "));
  }
  std::string operator()(const op::Join& join) const {
    const std::size_t columns = join.left.type().columns.size() + join.right.type().columns.size();
    return fmt::format("Join {} = {} with {}", list(join.left_keys), list(join.right_keys),
                       list(join.projection, columns));
  }
  std::string operator()(const op::ReKey& rekey) const {
    return "ReKey " + rekey.function.to_string();
  }
  std::string operator()(const op::Filter& filter) const {
    return "Filter " + filter.predicate.to_string();
  }
  std::string operator()(const op::Transform& transform) const {
    return "Transform with " + list(transform.projection, transform.input.type().columns.size());
  }
  std::string operator()(const op::Tile& tile) const {
    return fmt::format("Tile dimension {} by {}", tile.dimension, tile.size);
  }
  std::string operator()(const op::Concat& concat) const {
    return fmt::format("Concat key {} along dimension {}", concat.key_component, concat.dimension);
  }
};

struct Line {
  std::string description;
  std::string result;
};

constexpr int deepest_indent = 40;

/// The operators from the root down, each before its inputs. What several read is spelt out once.
std::vector<Line> lines_of(const Plan& root) {
  std::vector<Line> lines;
  std::unordered_set<const Plan::Node*> seen;
  std::vector<std::pair<Plan, int>> stack{{root, 0}};
  while (!stack.empty()) {
    const auto [plan, depth] = stack.back();
    stack.pop_back();
    const Plan::Cardinality count = plan.cardinality();
    std::string tuples = fmt::format("{}{} tuple{}", count.exact ? "" : "at most ", count.tuples,
                                     count.tuples == 1 ? "" : "s");
    if (count.tuples < 0) tuples = "? tuples";
    std::string indent(2 * std::min(depth, deepest_indent), ' ');
    if (depth > deepest_indent) indent += fmt::format("({} deep) ", depth);
    std::vector<Plan> inputs = inputs_of(operator_of(plan));
    const bool again = !seen.insert(&plan.node()).second && !inputs.empty();
    lines.push_back({indent + describe(operator_of(plan)) + (again ? ", as above" : ""),
                     fmt::format("{}, {}", to_string(plan.type()), tuples)});
    if (again) continue;
    for (auto input = inputs.rbegin(); input != inputs.rend(); ++input)
      stack.emplace_back(*input, depth + 1);
  }
  return lines;
}

}  // namespace

std::string describe(const Operator& op) { return std::visit(Description{}, op); }

std::string Plan::explain() const {
  const std::vector<Line> lines = lines_of(*this);
  std::size_t width = 0;
  for (const Line& line : lines) width = std::max(width, line.description.size());
  std::string text;
  for (const Line& line : lines)
    text += fmt::format("{:<{}}  {}\n", line.description, width, line.result);
  return text;
}

}  // namespace tessera
