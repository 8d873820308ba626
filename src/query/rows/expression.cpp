#include "query/rows/expression.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace tessera::query {

ExpressionPtr make(decltype(Expression::node) node, const Type& type, Location location) {
  return std::make_shared<const Expression>(Expression{std::move(node), type, location});
}

ExpressionPtr column_of(int column, const Type& type, Location location) {
  return make(ColumnOf{column}, type, location);
}

std::vector<ExpressionPtr> arguments_of(const Operation& operation) {
  if (operation.kernel.kernel().max_arguments == 2) return {operation.left, operation.right};
  return {operation.kernel.params().flag("left") ? operation.right : operation.left};
}

std::vector<ExpressionPtr> operands_of(const Expression& expression) {
  struct Operands {
    std::vector<ExpressionPtr> operator()(const ColumnOf&) const { return {}; }
    std::vector<ExpressionPtr> operator()(const Constant&) const { return {}; }
    std::vector<ExpressionPtr> operator()(const Parameter&) const { return {}; }
    std::vector<ExpressionPtr> operator()(const Operation& e) const { return {e.left, e.right}; }
    std::vector<ExpressionPtr> operator()(const IntegerDivision& e) const {
      return {e.left, e.right};
    }
    std::vector<ExpressionPtr> operator()(const Negation& e) const { return {e.operand}; }
    std::vector<ExpressionPtr> operator()(const KernelOf& e) const { return e.arguments; }
    std::vector<ExpressionPtr> operator()(const TextComparison& e) const {
      return {e.left, e.right};
    }
    std::vector<ExpressionPtr> operator()(const CaseOf& e) const {
      std::vector<ExpressionPtr> all;
      for (const auto& [condition, value] : e.branches) {
        all.push_back(condition);
        all.push_back(value);
      }
      all.push_back(e.otherwise);
      return all;
    }
    std::vector<ExpressionPtr> operator()(const NullTest& e) const { return {e.operand}; }
    std::vector<ExpressionPtr> operator()(const Coalesce& e) const { return e.arguments; }
    std::vector<ExpressionPtr> operator()(const TextCast& e) const { return {e.operand}; }
  };
  return std::visit(Operands{}, expression.node);
}

ExpressionPtr with_operands(const Expression& expression, std::vector<ExpressionPtr> operands) {
  Expression changed = expression;
  struct Replace {
    std::vector<ExpressionPtr>& by;
    void operator()(ColumnOf&) const {}
    void operator()(Constant&) const {}
    void operator()(Parameter&) const {}
    void operator()(Operation& e) const { e.left = by[0], e.right = by[1]; }
    void operator()(IntegerDivision& e) const { e.left = by[0], e.right = by[1]; }
    void operator()(Negation& e) const { e.operand = by[0]; }
    void operator()(KernelOf& e) const { e.arguments = std::move(by); }
    void operator()(TextComparison& e) const { e.left = by[0], e.right = by[1]; }
    void operator()(CaseOf& e) const {
      for (std::size_t i = 0; i < e.branches.size(); ++i)
        e.branches[i] = {by[2 * i], by[2 * i + 1]};
      e.otherwise = by.back();
    }
    void operator()(NullTest& e) const { e.operand = by[0]; }
    void operator()(Coalesce& e) const { e.arguments = std::move(by); }
    void operator()(TextCast& e) const { e.operand = by[0]; }
  };
  std::visit(Replace{operands}, changed.node);
  return std::make_shared<const Expression>(std::move(changed));
}

ExpressionPtr renumber(const ExpressionPtr& expression, const std::vector<int>& columns) {
  if (const auto* column = std::get_if<ColumnOf>(&expression->node))
    return column_of(columns.at(column->column), expression->type, expression->location);
  std::vector<ExpressionPtr> operands = operands_of(*expression);
  if (operands.empty()) return expression;
  for (ExpressionPtr& operand : operands) operand = renumber(operand, columns);
  return with_operands(*expression, std::move(operands));
}

namespace {

void collect_columns(const Expression& expression, std::set<int>& into) {
  if (const auto* column = std::get_if<ColumnOf>(&expression.node)) into.insert(column->column);
  for (const ExpressionPtr& operand : operands_of(expression)) collect_columns(*operand, into);
}

void collect_conjuncts(const ExpressionPtr& condition, std::vector<ExpressionPtr>& into) {
  const auto* operation = std::get_if<Operation>(&condition->node);
  if (operation == nullptr || operation->op != BinaryOperator::logical_and) {
    into.push_back(condition);
    return;
  }
  collect_conjuncts(operation->left, into);
  collect_conjuncts(operation->right, into);
}

bool same_cell(const Cell& a, const Cell& b) {
  if (a.is_null() || b.is_null() || a.is_text() != b.is_text()) return a.is_null() && b.is_null();
  return compare(a, b) == 0 && (a.is_text() || a.type() == b.type());
}

}  // namespace

std::vector<int> columns_in(const Expression& expression) {
  std::set<int> found;
  collect_columns(expression, found);
  return {found.begin(), found.end()};
}

bool is_constant(const Expression& expression) {
  if (std::holds_alternative<ColumnOf>(expression.node)) return false;
  if (std::holds_alternative<Parameter>(expression.node)) return false;
  const auto operands = operands_of(expression);
  return std::all_of(operands.begin(), operands.end(),
                     [](const ExpressionPtr& operand) { return is_constant(*operand); });
}

bool same(const Expression& a, const Expression& b) {
  if (a.node.index() != b.node.index()) return false;
  // A column is the same as what it is taken for, as an INT for a BIGINT.
  if (!(a.type == b.type) && !std::holds_alternative<ColumnOf>(a.node)) return false;
  struct SameNode {
    const Expression& other;
    bool operator()(const ColumnOf& e) const {
      return e.column == std::get<ColumnOf>(other.node).column;
    }
    bool operator()(const Constant& e) const {
      return same_cell(e.value, std::get<Constant>(other.node).value);
    }
    bool operator()(const Parameter& e) const {
      return e.index == std::get<Parameter>(other.node).index;
    }
    bool operator()(const Operation& e) const { return e.op == std::get<Operation>(other.node).op; }
    bool operator()(const IntegerDivision& e) const {
      return e.op == std::get<IntegerDivision>(other.node).op;
    }
    bool operator()(const Negation&) const { return true; }
    bool operator()(const KernelOf& e) const {
      const auto& o = std::get<KernelOf>(other.node);
      return e.kernel == o.kernel && e.output == o.output;
    }
    bool operator()(const TextComparison& e) const {
      return e.op == std::get<TextComparison>(other.node).op;
    }
    bool operator()(const CaseOf&) const { return true; }
    bool operator()(const NullTest& e) const {
      return e.negated == std::get<NullTest>(other.node).negated;
    }
    bool operator()(const Coalesce&) const { return true; }
    bool operator()(const TextCast&) const { return true; }
  };
  if (!std::visit(SameNode{b}, a.node)) return false;
  const auto left = operands_of(a), right = operands_of(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const ExpressionPtr& x, const ExpressionPtr& y) { return same(*x, *y); });
}

std::vector<ExpressionPtr> conjuncts(const ExpressionPtr& condition) {
  std::vector<ExpressionPtr> found;
  if (condition) collect_conjuncts(condition, found);
  return found;
}

ExpressionPtr all_of(const std::vector<ExpressionPtr>& conditions) {
  ExpressionPtr all;
  for (const ExpressionPtr& condition : conditions)
    all = !all ? condition
               : make(Operation{BinaryOperator::logical_and, all, condition, "logical_and"},
                      {Type::Kind::boolean}, condition->location);
  return all;
}

}  // namespace tessera::query
