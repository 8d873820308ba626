#include <algorithm>

#include "lang/sql/grammar.h"
#include "lang/sql/words.h"

namespace tessera::sql::grammar {
namespace {

/// A parameter may be called what is a reserved word elsewhere, as the `end` of a slice, unless an
/// expression can begin with it.
bool at_parameter_name(const Cursor& cursor) {
  if (cursor.at_name()) return true;
  if (cursor.token().kind != Token::Kind::word) return false;
  const std::string_view beginnings[] = {"CASE", "FALSE", "NOT", "NULL", "SELECT", "TRUE", "WITH"};
  return std::none_of(std::begin(beginnings), std::end(beginnings),
                      [&](std::string_view word) { return cursor.at_word(word); });
}

/// `axes = [0, 1]` is a parameter of a kernel, but SUM(a = b) counts what is equal: an aggregate of
/// the language has one argument, and sum(a, axes = [0]) is the kernel. `f(a == b)` and `f((a =
/// b))` compare, and so does `where(a = b, x, y)`.
bool at_parameter(const Cursor& cursor, const Call& call) {
  if (!at_parameter_name(cursor)) return false;
  if (is_plain_aggregate(call.name) && call.arguments.empty()) return false;
  if (same_word(call.name, "where")) return false;
  const Token next = cursor.next();
  return next.kind == Token::Kind::symbol && next.text == "=";
}

void parameter(Cursor& cursor, Call& call) {
  const Location location = cursor.location();
  std::string name(cursor.token().text);
  if (cursor.at_name())
    name = cursor.expect_name("a parameter name");
  else
    cursor.advance();
  if (std::any_of(call.parameters.begin(), call.parameters.end(),
                  [&](const auto& other) { return same_word(other.first, name); }))
    fail_parse(location, "parameter \"{}\" specified more than once", readable(name));
  cursor.advance();  // the =
  call.parameters.emplace_back(std::move(name), expression(cursor));
}

void argument(Cursor& cursor, Call& call) {
  if (at_query(cursor) && same_word(call.name, "EXISTS"))
    fail_parse(cursor.location(), "EXISTS is not supported; {}", remedy_for(call.name));
  if (at_query(cursor))
    fail_parse(cursor.location(), "a subquery needs its own parentheses: {}((SELECT ...))",
               readable(call.name));
  if (!call.parameters.empty())
    fail_parse(cursor.location(),
               "arguments of \"{}\" must come before its parameters, such as \"{}\"",
               readable(call.name), readable(call.parameters.back().first));
  call.arguments.push_back(expression(cursor));
}

}  // namespace

ExpressionPtr call(Cursor& cursor, std::string function, Location location) {
  const Cursor::Nested nested(cursor);
  cursor.expect_symbol("(", "'(' after the function name");
  Call call{std::move(function)};
  if (cursor.take_symbol("*")) {
    call.star = true;
    cursor.expect_symbol(")", "')' after *");
    return make(location, std::move(call));
  }
  call.distinct = cursor.take_word("DISTINCT");
  if (call.distinct || !cursor.at_symbol(")")) {
    do {
      if (at_parameter(cursor, call))
        parameter(cursor, call);
      else
        argument(cursor, call);
    } while (cursor.take_comma());
  }
  cursor.expect_symbol(")", "an operator, ',' or ')' after an argument");
  return make(location, std::move(call));
}

}  // namespace tessera::sql::grammar
