#include "query/binding/with_location.h"

#include <unordered_map>

namespace tessera::query {
namespace {

/// Copies a tree with another location in every expression. Nodes that the tree shares stay shared.
class Relocation {
 public:
  explicit Relocation(Location location) : location_(location) {}

  NodePtr operator()(const NodePtr& node) {
    const auto known = nodes_.find(node.get());
    if (known != nodes_.end()) return known->second;
    Operator op = node->op;
    std::visit([&](auto& one) { relocate(one); }, op);
    return nodes_[node.get()] = make_node(std::move(op), node->schema);
  }

 private:
  void relocate(ExpressionPtr& expression) {
    if (!expression) return;
    std::vector<ExpressionPtr> operands = operands_of(*expression);
    for (ExpressionPtr& operand : operands) relocate(operand);
    Expression moved = *with_operands(*expression, std::move(operands));
    moved.location = location_;
    expression = std::make_shared<const Expression>(std::move(moved));
  }
  void relocate(std::vector<ExpressionPtr>& all) {
    for (ExpressionPtr& one : all) relocate(one);
  }
  void relocate(NodePtr& node) { node = (*this)(node); }

  void relocate(Scan&) {}
  void relocate(ConstantRows& op) {
    for (auto& row : op.rows) relocate(row);
  }
  void relocate(Filter& op) { relocate(op.input), relocate(op.condition); }
  void relocate(Join& op) {
    relocate(op.left), relocate(op.right), relocate(op.condition);
    relocate(op.outputs);
  }
  void relocate(Project& op) { relocate(op.input), relocate(op.outputs); }
  void relocate(Aggregate& op) {
    relocate(op.input), relocate(op.group_by);
    for (Fold& fold : op.folds) {
      relocate(fold.argument);
      fold.location = location_;
    }
  }
  void relocate(UnionAll& op) {
    for (NodePtr& input : op.inputs) relocate(input);
  }
  void relocate(Distinct& op) { relocate(op.input); }
  void relocate(Sort& op) {
    relocate(op.input);
    for (SortKey& key : op.keys) relocate(key.expression);
  }
  void relocate(Limit& op) { relocate(op.input), relocate(op.limit), relocate(op.offset); }
  void relocate(OnlyRow& op) {
    relocate(op.input);
    op.location = location_;
  }

  Location location_;
  std::unordered_map<const Node*, NodePtr> nodes_;
};

}  // namespace

NodePtr with_location(const NodePtr& node, Location location) { return Relocation(location)(node); }

}  // namespace tessera::query
