#include <limits>

#include "lang/sql/grammar.h"
#include "lang/sql/operators.h"

namespace tessera::sql::grammar {
namespace {

ExpressionPtr at_least(Cursor& cursor, Binding loosest);

/// What can follow x as x IN, x NOT BETWEEN, x IS.
bool at_predicate(const Cursor& cursor) {
  return cursor.at_word("IS") || cursor.at_word("IN") || cursor.at_word("BETWEEN") ||
         cursor.at_word("NOT");
}

/// An arrow, x <-1, is a comparison with a negative number here.
bool at_comparison(const Cursor& cursor, std::optional<BinaryOperator> op) {
  if (op) return binding_of(*op) == Binding::comparison;
  return cursor.at_symbol("<-") || at_predicate(cursor);
}

std::vector<ExpressionPtr> options_of_in(Cursor& cursor) {
  cursor.expect_symbol("(", "'(' and the values after IN");
  const Cursor::Nested nested(cursor);
  if (at_query(cursor))
    fail_parse(
        cursor.location(),
        "IN (SELECT ...) is not supported; join with the subquery instead, or put a subquery "
        "that returns a single value in its own parentheses");
  std::vector<ExpressionPtr> options;
  do options.push_back(expression(cursor));
  while (cursor.take_comma());
  cursor.expect_symbol(")", "',' or ')' after a value of IN");
  return options;
}

ExpressionPtr predicate(Cursor& cursor, ExpressionPtr left) {
  const Location location = cursor.location();
  if (cursor.take_word("IS")) {
    const bool negated = cursor.take_word("NOT");
    cursor.expect_word("NULL", negated ? "NULL after IS NOT" : "NULL or NOT NULL after IS");
    return make(location, IsNull{std::move(left), negated});
  }
  const bool negated = cursor.take_word("NOT");
  if (cursor.take_word("IN"))
    return make(location, InList{std::move(left), options_of_in(cursor), negated});
  cursor.expect_word("BETWEEN", "IN or BETWEEN after NOT");
  ExpressionPtr low = at_least(cursor, Binding::sum);
  cursor.expect_word("AND", "AND between the bounds of BETWEEN");
  ExpressionPtr high = at_least(cursor, Binding::sum);
  return make(location, Between{std::move(left), std::move(low), std::move(high), negated});
}

ExpressionPtr comparison(Cursor& cursor, ExpressionPtr left) {
  if (at_predicate(cursor)) return predicate(cursor, std::move(left));
  const Location location = cursor.location();
  BinaryOperator op = BinaryOperator::less;
  if (cursor.at_symbol("<-")) {
    cursor.advance_by_character();
  } else {
    op = *operator_of(cursor.token());
    cursor.advance();
  }
  return make(location, Binary{op, std::move(left), at_least(cursor, Binding::sum)});
}

/// The least integer, whose digits are none without the minus before them.
ExpressionPtr least_integer(Cursor& cursor, Location minus) {
  ExpressionPtr value = make(minus, Literal{cursor.token().integer});
  cursor.advance();
  if (cursor.at_symbol("::") || cursor.at_symbol("."))
    fail_parse(cursor.location(),
               "{} binds more tightly than the minus; put the number in parentheses, as in "
               "({})::TEXT",
               cursor.token().text, std::numeric_limits<std::int64_t>::min());
  return value;
}

ExpressionPtr signed_operand(Cursor& cursor) {
  const Location location = cursor.location();
  const bool minus = cursor.at_symbol("-");
  if (!minus && (!cursor.at_symbol("+") || at_aggregation(cursor))) return operand(cursor);
  const Cursor::Nested nested(cursor);
  cursor.advance();
  if (minus && cursor.token().wants_minus) return least_integer(cursor, location);
  ExpressionPtr value = signed_operand(cursor);
  return minus ? make(location, Unary{UnaryOperator::minus, std::move(value)}) : value;
}

ExpressionPtr negation(Cursor& cursor, Binding loosest) {
  const Cursor::Nested nested(cursor);
  const Location location = cursor.location();
  if (loosest > Binding::negation)
    fail_parse(location, "NOT needs parentheses here; write (NOT ...)");
  cursor.advance();
  return make(location, Unary{UnaryOperator::logical_not, at_least(cursor, Binding::negation)});
}

/// An expression whose outermost operator binds at least so tightly.
ExpressionPtr at_least(Cursor& cursor, Binding loosest) {
  const Cursor::Chain chain(cursor);
  const bool negated = cursor.at_word("NOT");
  ExpressionPtr left = negated ? negation(cursor, loosest) : signed_operand(cursor);
  // How tightly the next operator may bind: what has been read binds no tighter than that.
  Binding tightest = negated ? Binding::negation : Binding::postfix;
  while (true) {
    const Location location = cursor.location();
    const auto op = operator_of(cursor.token());
    if (loosest <= Binding::comparison && at_comparison(cursor, op)) {
      if (tightest == Binding::negation)
        fail_parse(
            location,
            "comparisons cannot be chained; combine them with AND, as in a < b AND b < c, or use "
            "parentheses");
      left = comparison(cursor, std::move(left));
      tightest = Binding::negation;
    } else {
      if (!op || binding_of(*op) < loosest || binding_of(*op) > tightest) return left;
      tightest = binding_of(*op);
      cursor.advance();
      left = make(location, Binary{*op, std::move(left), at_least(cursor, tighter(tightest))});
    }
    cursor.add_link(location, "operations",
                    "group them with parentheses, or use IN, VALUES or an aggregate");
  }
}

}  // namespace

ExpressionPtr expression(Cursor& cursor) { return at_least(cursor, Binding::disjunction); }

}  // namespace tessera::sql::grammar
