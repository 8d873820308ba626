#include "base/check.h"
#include "query/rows/expression.h"
#include "query/rows/text_value.h"

namespace tessera::query {
namespace {

bool holds(BinaryOperator op, int order) {
  switch (op) {
    case BinaryOperator::equal: return order == 0;
    case BinaryOperator::not_equal: return order != 0;
    case BinaryOperator::less: return order < 0;
    case BinaryOperator::less_equal: return order <= 0;
    case BinaryOperator::greater: return order > 0;
    case BinaryOperator::greater_equal: return order >= 0;
    default: break;
  }
  TESSERA_INVARIANT(false, "{} compares nothing", sql::to_string(op));
}

struct ExpressionEvaluator {
  const Expression& expression;
  const Row& row;
  Parameters parameters;

  Cell value(const ExpressionPtr& of) const { return evaluate(*of, row, parameters); }

  Cell operator()(const ColumnOf& e) const { return row.at(e.column); }
  Cell operator()(const Constant& e) const { return e.value; }
  Cell operator()(const Parameter& e) const { return Cell::of(parameters[e.index]); }

  Cell operator()(const Operation& e) const {
    if (e.op == BinaryOperator::logical_and || e.op == BinaryOperator::logical_or)
      return logical(e);
    std::vector<Tile> tiles;
    for (const ExpressionPtr& operand : arguments_of(e)) {
      const Cell cell = value(operand);
      if (cell.is_null()) return {};
      tiles.push_back(cell.tile());
    }
    return e.kernel(tiles);
  }

  /// NULL is what nobody knows: it decides nothing that the other operand decides.
  Cell logical(const Operation& e) const {
    const bool decisive = e.op == BinaryOperator::logical_or;
    const Cell left = value(e.left);
    if (!left.is_null() && left.truth() == decisive) return left;
    const Cell right = value(e.right);
    if (!right.is_null() && right.truth() == decisive) return right;
    return left.is_null() ? left : right;
  }

  Cell operator()(const IntegerDivision& e) const {
    const Cell left = value(e.left), right = value(e.right);
    if (left.is_null() || right.is_null()) return {};
    const std::int64_t a = left.integer(), b = right.integer();
    TESSERA_REQUIRE(ValueError, b != 0, "division by zero: {} {} 0", a, sql::to_string(e.op));
    const bool quotient = e.op == BinaryOperator::integer_divide;
    if (b == -1) {  // the one quotient that may not fit
      TESSERA_REQUIRE(ValueError, !quotient || a != std::numeric_limits<std::int64_t>::min(),
                      "{} // -1 is out of range for BIGINT", a);
      return Cell::of(quotient ? -a : std::int64_t{0});
    }
    const std::int64_t below = a % b != 0 && (a % b < 0) != (b < 0);  // rounded towards zero
    return Cell::of(quotient ? a / b - below : a % b + below * b);
  }

  Cell operator()(const Negation& e) const {
    const Cell cell = value(e.operand);
    return cell.is_null() ? cell : Cell::of(!cell.truth());
  }

  Cell operator()(const KernelOf& e) const {
    std::vector<Tile> tiles;
    for (const ExpressionPtr& argument : e.arguments) {
      const Cell cell = value(argument);
      if (cell.is_null()) return {};
      tiles.push_back(cell.tile());
    }
    return e.kernel.run(tiles).at(e.output);
  }

  Cell operator()(const TextComparison& e) const {
    const Cell left = value(e.left), right = value(e.right);
    if (left.is_null() || right.is_null()) return {};
    return Cell::of(holds(e.op, compare(left, right)));
  }

  Cell operator()(const CaseOf& e) const {
    for (const auto& [condition, result] : e.branches)
      if (value(condition).truth()) return value(result);
    return value(e.otherwise);
  }

  Cell operator()(const NullTest& e) const {
    return Cell::of(value(e.operand).is_null() != e.negated);
  }

  Cell operator()(const Coalesce& e) const {
    for (const ExpressionPtr& argument : e.arguments)
      if (Cell cell = value(argument); !cell.is_null()) return cell;
    return {};
  }

  Cell operator()(const TextCast& e) const {
    const Cell cell = value(e.operand);
    if (cell.is_null()) return cell;
    return is_text(expression.type) ? text_of(cell) : cast_text(cell.text(), expression.type);
  }
};

}  // namespace

Cell evaluate(const Expression& expression, const Row& row, Parameters parameters) {
  return lang::at_location(expression.location, [&] {
    return std::visit(ExpressionEvaluator{expression, row, parameters}, expression.node);
  });
}

}  // namespace tessera::query
