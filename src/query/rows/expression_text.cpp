#include "query/rows/expression.h"
#include "query/rows/text_value.h"

namespace tessera::query {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

struct Printer {
  const Expression& expression;
  const Schema& columns;

  std::string text(const ExpressionPtr& of) const { return to_string(*of, columns); }
  std::string operand(const ExpressionPtr& of) const {
    const bool simple =
        std::holds_alternative<ColumnOf>(of->node) || std::holds_alternative<Constant>(of->node) ||
        std::holds_alternative<Parameter>(of->node) || std::holds_alternative<KernelOf>(of->node);
    return simple ? text(of) : "(" + text(of) + ")";
  }
  std::string infix(BinaryOperator op, const ExpressionPtr& left,
                    const ExpressionPtr& right) const {
    return fmt::format("{} {} {}", operand(left), sql::to_string(op), operand(right));
  }
  std::string list(const std::vector<ExpressionPtr>& all) const {
    std::string joined;
    for (const ExpressionPtr& one : all) joined += (joined.empty() ? "" : ", ") + text(one);
    return joined;
  }

  std::string operator()(const ColumnOf& e) const {
    const Column& column = columns.at(e.column);
    return column.table.empty() ? column.name : column.table + "." + column.name;
  }
  std::string operator()(const Constant& e) const {
    return e.value.is_text() ? quoted(e.value.text()) : text_of(e.value);
  }
  std::string operator()(const Parameter& e) const { return fmt::format("${}", e.index + 1); }
  std::string operator()(const Operation& e) const { return infix(e.op, e.left, e.right); }
  std::string operator()(const IntegerDivision& e) const { return infix(e.op, e.left, e.right); }
  std::string operator()(const Negation& e) const { return "NOT " + operand(e.operand); }
  std::string operator()(const KernelOf& e) const {
    std::string call = e.kernel.to_string();
    const std::string arguments = list(e.arguments);
    const auto parenthesis = call.find('(');
    if (parenthesis == std::string::npos) return fmt::format("{}({})", call, arguments);
    return call.substr(0, parenthesis + 1) + arguments + ", " + call.substr(parenthesis + 1);
  }
  std::string operator()(const TextComparison& e) const { return infix(e.op, e.left, e.right); }
  std::string operator()(const CaseOf& e) const {
    std::string result = "CASE";
    for (const auto& [condition, value] : e.branches)
      result += fmt::format(" WHEN {} THEN {}", text(condition), text(value));
    return result + fmt::format(" ELSE {} END", text(e.otherwise));
  }
  std::string operator()(const NullTest& e) const {
    return operand(e.operand) + (e.negated ? " IS NOT NULL" : " IS NULL");
  }
  std::string operator()(const Coalesce& e) const { return "coalesce(" + list(e.arguments) + ")"; }
  std::string operator()(const TextCast& e) const {
    return fmt::format("CAST({} AS {})", text(e.operand), sql::to_string(expression.type));
  }
};

}  // namespace

std::string to_string(const Expression& expression, const Schema& columns) {
  return std::visit(Printer{expression, columns}, expression.node);
}

}  // namespace tessera::query
