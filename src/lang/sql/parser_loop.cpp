#include <algorithm>
#include <array>

#include "lang/sql/grammar.h"
#include "lang/sql/words.h"

// Programs over arrays:
//   { var R[n, m]; for i = 0, n-1 do { R[i] := 0; for j = 0, m-1 do R[i] += A[i, j] } }
// Words such as `for` begin a step of theirs unless an assignment follows: a variable may have
// such a name.

namespace tessera::sql::grammar {
namespace {

constexpr std::array<std::string_view, 4> update_symbols = {"+", "-", "*", "/"};
constexpr std::array<std::string_view, 4> update_words = {"min", "max", "and", "or"};

bool followed_by_equals(const Cursor& cursor) {
  const Token next = cursor.next();
  return next.kind == Token::Kind::symbol && next.text == "=" &&
         cursor.token().end().offset == next.location.offset;
}

/// The operator of an assignment that begins here: "" of :=, "+" of +=; none if it is something
/// else.
std::optional<std::string> assignment_operator(const Cursor& cursor) {
  if (!followed_by_equals(cursor)) return std::nullopt;
  if (cursor.at_symbol(":")) return "";
  for (const std::string_view symbol : update_symbols)
    if (cursor.at_symbol(symbol)) return std::string(symbol);
  for (const std::string_view word : update_words)
    if (cursor.at_word(word)) return std::string(word);
  return std::nullopt;
}

/// Whether the name here is what is assigned to.
bool is_assigned(Cursor cursor) {
  if (cursor.token().kind == Token::Kind::quoted_name) return true;
  cursor.advance();
  int open = 0;
  while ((open > 0 || cursor.at_symbol("[")) && !cursor.at_end()) {  // the indices
    if (cursor.at_symbol("[")) ++open;
    if (cursor.at_symbol("]")) --open;
    cursor.advance();
  }
  return assignment_operator(cursor).has_value();
}

/// `in_braces`: whether it ends with a block, behind which the semicolon may be left out.
StepPtr step(Cursor& cursor, bool& in_braces);

StepPtr make_step(Location location, decltype(Step::node) node) {
  return std::make_shared<const Step>(Step{std::move(node), location});
}

Steps block(Cursor& cursor) {
  Steps found;
  cursor.expect_symbol("{", "'{'");
  while (!cursor.at_symbol("}")) {
    if (cursor.take_symbol(";")) continue;
    bool in_braces = false;
    found.push_back(step(cursor, in_braces));
    if (!cursor.at_symbol("}") && !in_braces)
      cursor.expect_symbol(";", "';' and another step, or '}'");
  }
  cursor.advance();
  return found;
}

/// Several steps between { and }, or one.
Steps body(Cursor& cursor, bool& in_braces) {
  in_braces = cursor.at_symbol("{");
  if (in_braces) return block(cursor);
  return {step(cursor, in_braces)};
}

Variable variable(Cursor& cursor) {
  Variable found;
  found.name = cursor.expect_name("the name of the array");
  if (cursor.take_symbol("[")) {
    do found.extents.push_back(expression(cursor));
    while (cursor.take_comma());
    cursor.expect_symbol("]", "',' or ']' after an extent");
  }
  if (cursor.take_word("OF")) found.element = element_type(cursor);
  if (cursor.at_symbol("=") || assignment_operator(cursor) == "") {
    if (!cursor.take_symbol("=")) {
      cursor.advance();
      cursor.advance();
    }
    found.value = expression(cursor);
  }
  if (found.extents.empty() && !found.value && !found.element)
    cursor.fail_expected("the extents of the array, as in var R[10], or '=' and its value");
  return found;
}

Assignment assignment(Cursor& cursor) {
  Assignment found{
      cursor.expect_name("var, let, for, while, if or an assignment"), {}, {}, nullptr};
  if (cursor.take_symbol("[")) {
    do found.indices.push_back(expression(cursor));
    while (cursor.take_comma());
    cursor.expect_symbol("]", "',' or ']' after an index");
  }
  const auto update = assignment_operator(cursor);
  if (!update) cursor.fail_expected(":= or an update such as += after what is assigned to");
  cursor.advance();
  cursor.advance();
  found.update = *update;
  found.value = expression(cursor);
  return found;
}

ForLoop for_loop(Cursor& cursor, bool& in_braces) {
  ForLoop found;
  found.variable = cursor.expect_name("the name of the loop index");
  cursor.expect_symbol("=", "'=' and a range, as in for i = 0, 9 do");
  found.from = expression(cursor);
  cursor.expect_symbol(",", "',' and the last value of the index");
  found.to = expression(cursor);
  if (cursor.take_symbol(",")) found.by = expression(cursor);
  cursor.expect_word("DO", "do before the body of the loop");
  found.body = body(cursor, in_braces);
  return found;
}

Branch branch(Cursor& cursor, bool& in_braces) {
  Branch found;
  found.condition = expression(cursor);
  cursor.expect_word("THEN", "then after the condition");
  found.yes = body(cursor, in_braces);
  if (cursor.take_word("ELSE")) found.no = body(cursor, in_braces);
  return found;
}

StepPtr step(Cursor& cursor, bool& in_braces) {
  const Cursor::Nested nested(cursor);
  const Location location = cursor.location();
  if (cursor.at_name() && !is_assigned(cursor)) {
    if (cursor.take_word("VAR")) return make_step(location, variable(cursor));
    if (cursor.take_word("FOR")) return make_step(location, for_loop(cursor, in_braces));
    if (cursor.take_word("IF")) return make_step(location, branch(cursor, in_braces));
    if (cursor.take_word("WHILE")) {
      WhileLoop loop{expression(cursor), {}};
      cursor.expect_word("DO", "do before the body of the loop");
      loop.body = body(cursor, in_braces);
      return make_step(location, std::move(loop));
    }
    if (cursor.take_word("LET")) {
      Definition found{cursor.expect_name("a name for the value"), nullptr};
      cursor.expect_symbol("=", "'=' and the value of the name");
      found.value = expression(cursor);
      return make_step(location, std::move(found));
    }
  }
  return make_step(location, assignment(cursor));
}

}  // namespace

Program program(Cursor& cursor) {
  const Cursor::Brackets brackets(cursor);
  return {block(cursor)};
}

}  // namespace tessera::sql::grammar
