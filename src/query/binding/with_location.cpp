#include "query/binding/with_location.h"

#include <unordered_map>

namespace tessera::query {
namespace {

/// What is shared stays so.
class Teller {
 public:
  explicit Teller(Location location) : location_(location) {}

  NodePtr operator()(const NodePtr& node) {
    const auto known = nodes_.find(node.get());
    if (known != nodes_.end()) return known->second;
    Operator op = node->op;
    std::visit([&](auto& one) { tell(one); }, op);
    return nodes_[node.get()] = make_node(std::move(op), node->schema);
  }

 private:
  void tell(ExpressionPtr& expression) {
    if (!expression) return;
    std::vector<ExpressionPtr> operands = operands_of(*expression);
    for (ExpressionPtr& operand : operands) tell(operand);
    Expression told = *with_operands(*expression, std::move(operands));
    told.location = location_;
    expression = std::make_shared<const Expression>(std::move(told));
  }
  void tell(std::vector<ExpressionPtr>& all) {
    for (ExpressionPtr& one : all) tell(one);
  }
  void tell(NodePtr& node) { node = (*this)(node); }

  void tell(Scan&) {}
  void tell(ConstantRows& op) {
    for (auto& row : op.rows) tell(row);
  }
  void tell(Filter& op) { tell(op.input), tell(op.condition); }
  void tell(Join& op) {
    tell(op.left), tell(op.right), tell(op.condition);
    tell(op.outputs);
  }
  void tell(Project& op) { tell(op.input), tell(op.outputs); }
  void tell(Aggregate& op) {
    tell(op.input), tell(op.group_by);
    for (Fold& fold : op.folds) {
      tell(fold.argument);
      fold.location = location_;
    }
  }
  void tell(UnionAll& op) {
    for (NodePtr& input : op.inputs) tell(input);
  }
  void tell(Distinct& op) { tell(op.input); }
  void tell(Sort& op) {
    tell(op.input);
    for (SortKey& key : op.keys) tell(key.expression);
  }
  void tell(Limit& op) { tell(op.input), tell(op.limit), tell(op.offset); }
  void tell(OnlyRow& op) {
    tell(op.input);
    op.location = location_;
  }

  Location location_;
  std::unordered_map<const Node*, NodePtr> nodes_;
};

}  // namespace

NodePtr with_location(const NodePtr& node, Location location) { return Teller(location)(node); }

}  // namespace tessera::query
