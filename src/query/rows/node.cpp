#include "query/rows/node.h"

namespace tessera::query {
namespace {

/// The columns that the expressions of a node read.
Schema columns_below(const Node& node) {
  Schema all;
  for (const NodePtr& input : inputs_of(node))
    all.insert(all.end(), input->schema.begin(), input->schema.end());
  return all;
}

std::string list(const std::vector<ExpressionPtr>& expressions, const Schema& columns) {
  std::string joined;
  for (const ExpressionPtr& one : expressions)
    joined += (joined.empty() ? "" : ", ") + to_string(*one, columns);
  return joined;
}

std::string text_of(const Fold& fold, const Schema& columns) {
  const std::string argument = fold.argument ? to_string(*fold.argument, columns) : "*";
  const std::string name = fold.kernel                      ? fold.kernel->to_string()
                           : fold.kind == Fold::Kind::count ? "count"
                           : fold.kind == Fold::Kind::first ? "min"
                                                            : "max";
  return fmt::format("{}({}{})", name, fold.distinct ? "DISTINCT " : "", argument);
}

struct Describe {
  const Node& node;
  Schema columns;

  std::string operator()(const Scan&) const {
    return "Scan " + (node.schema.empty() ? std::string("of nothing") : node.schema.front().table);
  }
  std::string operator()(const ConstantRows& op) const {
    return fmt::format("Values, {} row{}", op.rows.size(), op.rows.size() == 1 ? "" : "s");
  }
  std::string operator()(const Filter& op) const {
    return "Filter " + to_string(*op.condition, columns);
  }
  std::string operator()(const Join& op) const {
    return fmt::format("Join {} -> {}", op.condition ? to_string(*op.condition, columns) : "all",
                       list(op.outputs, columns));
  }
  std::string operator()(const Project& op) const { return "Project " + list(op.outputs, columns); }
  std::string operator()(const Aggregate& op) const {
    std::string folds;
    for (const Fold& fold : op.folds) folds += (folds.empty() ? "" : ", ") + text_of(fold, columns);
    return fmt::format("Aggregate by ({}): {}", list(op.group_by, columns), folds);
  }
  std::string operator()(const UnionAll& op) const {
    return fmt::format("Union of {}", op.inputs.size());
  }
  std::string operator()(const Distinct&) const { return "Distinct"; }
  std::string operator()(const Sort& op) const {
    std::string keys;
    for (const SortKey& key : op.keys)
      keys += (keys.empty() ? "" : ", ") + to_string(*key.expression, columns) +
              (key.descending ? " DESC" : "");
    return "Sort by " + keys;
  }
  std::string operator()(const Limit& op) const {
    std::string text = op.limit ? "Limit " + to_string(*op.limit, {}) : "";
    if (op.offset) text += (text.empty() ? "Offset " : " offset ") + to_string(*op.offset, {});
    return text;
  }
  std::string operator()(const OnlyRow&) const { return "Only row"; }
};

void explain_into(const Node& node, int depth, std::string& text) {
  text += std::string(static_cast<std::size_t>(2 * depth), ' ') + describe(node) + "\n";
  for (const NodePtr& input : inputs_of(node)) explain_into(*input, depth + 1, text);
}

}  // namespace

NodePtr make_node(Operator op, Schema schema) {
  return std::make_shared<const Node>(Node{std::move(op), std::move(schema)});
}

std::vector<NodePtr> inputs_of(const Node& node) {
  return std::visit(
      []<class Op>(const Op& op) -> std::vector<NodePtr> {
        if constexpr (std::is_same_v<Op, Scan> || std::is_same_v<Op, ConstantRows>)
          return {};
        else if constexpr (std::is_same_v<Op, Join>)
          return {op.left, op.right};
        else if constexpr (std::is_same_v<Op, UnionAll>)
          return op.inputs;
        else
          return {op.input};
      },
      node.op);
}

std::string describe(const Node& node) {
  return std::visit(Describe{node, columns_below(node)}, node.op);
}

std::string explain(const Node& node) {
  std::string text;
  explain_into(node, 0, text);
  return text;
}

}  // namespace tessera::query
