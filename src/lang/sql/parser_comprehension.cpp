#include <algorithm>
#include <array>

#include "lang/sql/grammar.h"

// Array comprehensions: tensor(2, 3)[ ((i, j), +/v) | ((i, k), a) <- A, ..., group by (i, j) ].

namespace tessera::sql::grammar {
namespace {

constexpr std::array<std::string_view, 9> monoid_words = {
    "sum", "product", "min", "max", "and", "or", "count", "argmin", "argmax"};

/// Whether this token and the next one stand together, without a blank between them.
bool adjoins(const Token& token, const Token& next) {
  return token.end().offset == next.location.offset;
}

bool is_symbol(const Token& token, std::string_view text) {
  return token.kind == Token::Kind::symbol && token.text == text;
}

/// p <- e, or p <<- e. A comparison with a negative number is written with a blank: v < -1.
bool at_arrow(const Cursor& cursor) {
  if (cursor.at_symbol("<-")) return true;
  return cursor.at_symbol("<") && is_symbol(cursor.next(), "<-") &&
         adjoins(cursor.token(), cursor.next());
}

Pattern pattern(Cursor& cursor) {
  const Cursor::Nested nested(cursor);
  Pattern found;
  found.location = cursor.location();
  if (!cursor.take_symbol("(")) {
    found.variable = cursor.expect_name("a variable or a tuple of variables");
    return found;
  }
  found.is_tuple = true;
  if (cursor.take_symbol(")")) return found;
  do found.parts.push_back(pattern(cursor));
  while (cursor.take_comma());
  cursor.expect_symbol(")", "',' or ')' after a variable");
  return found;
}

/// Looks ahead for a pattern and an arrow.
bool at_generator(Cursor cursor) {
  int open = 0;
  do {
    if (cursor.at_symbol("(")) {
      ++open;
    } else if (cursor.at_symbol(")")) {
      --open;
    } else if (!cursor.at_name() && !(open > 0 && cursor.at_symbol(","))) {
      return false;
    }
    cursor.advance();
  } while (open > 0 && cursor.token().kind != Token::Kind::end);
  return at_arrow(cursor);
}

/// What a generator goes through: a collection, or integers from one to another.
ExpressionPtr domain(Cursor& cursor) {
  const Location location = cursor.location();
  ExpressionPtr from = expression(cursor);
  if (!cursor.take_symbol("..") && !cursor.take_symbol("...")) return from;
  return make(location, Range{std::move(from), expression(cursor)});
}

bool at_let(const Cursor& cursor) {
  if (!cursor.at_word("LET")) return false;
  const Token next = cursor.next();
  return next.kind == Token::Kind::word || next.kind == Token::Kind::quoted_name ||
         is_symbol(next, "(");
}

bool at_group_by(const Cursor& cursor) {
  const Token next = cursor.next();
  return cursor.at_word("GROUP") && next.kind == Token::Kind::word && same_word(next.text, "BY");
}

Qualifier qualifier(Cursor& cursor) {
  const Location location = cursor.location();
  if (at_let(cursor)) {
    cursor.advance();
    Pattern taken = pattern(cursor);
    cursor.expect_symbol("=", "'=' and the value of the variable");
    return {Let{std::move(taken), expression(cursor)}, location};
  }
  if (at_group_by(cursor)) {
    cursor.advance();
    cursor.advance();
    GroupBy group{pattern(cursor)};
    if (cursor.take_symbol(":")) group.key = expression(cursor);
    return {std::move(group), location};
  }
  if (at_generator(cursor)) {
    Generator generator{pattern(cursor), nullptr};
    generator.every = !cursor.at_symbol("<-");
    if (generator.every) cursor.advance();
    cursor.advance();
    generator.domain = domain(cursor);
    return {std::move(generator), location};
  }
  return {Condition{expression(cursor)}, location};
}

/// Behind the head.
ExpressionPtr comprehension(Cursor& cursor, ExpressionPtr head, Location location) {
  Comprehension found{std::nullopt, std::move(head), {}};
  cursor.advance();  // the |
  do found.qualifiers.push_back(qualifier(cursor));
  while (cursor.take_symbol(","));  // GROUP BY may follow one
  cursor.expect_symbol("]", "',' or ']' after a qualifier of the array comprehension");
  return make(location, std::make_shared<const Comprehension>(std::move(found)));
}

std::vector<ExpressionPtr> extents(Cursor& cursor) {
  std::vector<ExpressionPtr> found;
  cursor.expect_symbol("(", "'(' and the extents of the dimensions");
  if (cursor.take_symbol(")")) return found;
  do found.push_back(expression(cursor));
  while (cursor.take_comma());
  cursor.expect_symbol(")", "',' or ')' after an extent");
  return found;
}

}  // namespace

ExpressionPtr bracketed(Cursor& cursor) {
  const Cursor::Nested nested(cursor);
  const Cursor::Brackets brackets(cursor);
  const Location location = cursor.location();
  cursor.advance();
  ArrayLiteral array;
  if (cursor.take_symbol("]")) return make(location, std::move(array));
  do array.elements.push_back(expression(cursor));
  while (cursor.take_comma());
  if (array.elements.size() == 1 && cursor.at_symbol("|"))
    return comprehension(cursor, std::move(array.elements.front()), location);
  cursor.expect_symbol("]", "',' or ']' after an element of the array");
  return make(location, std::move(array));
}

bool at_storage(const Cursor& cursor) {
  if (!cursor.at_word("TENSOR")) return false;
  Cursor ahead = cursor;
  ahead.advance();
  (void)ahead.take_symbol("*");
  for (int open = 0; ahead.at_symbol("(");) {
    do {
      if (ahead.at_symbol("(")) ++open;
      if (ahead.at_symbol(")")) --open;
      ahead.advance();
    } while (open > 0 && ahead.token().kind != Token::Kind::end);
    if (ahead.at_symbol("[")) return true;
  }
  return false;
}

ExpressionPtr stored_comprehension(Cursor& cursor) {
  const Location location = cursor.location();
  cursor.advance();
  Storage storage;
  storage.tiled = cursor.take_symbol("*");
  storage.dense = extents(cursor);
  if (cursor.at_symbol("(")) storage.sparse = extents(cursor);
  const Location inside = cursor.location();
  const ExpressionPtr found = bracketed(cursor);
  const auto* plain = std::get_if<std::shared_ptr<const Comprehension>>(&found->node);
  if (plain == nullptr)
    fail_parse(inside, "tensor(...) must be followed by an array comprehension, [ head | ... ]");
  Comprehension stored = **plain;
  stored.storage = std::move(storage);
  return make(location, std::make_shared<const Comprehension>(std::move(stored)));
}

ExpressionPtr tuple_from(Cursor& cursor, ExpressionPtr first, Location location) {
  Tuple tuple{{std::move(first)}};
  while (cursor.take_comma()) tuple.elements.push_back(expression(cursor));
  cursor.expect_symbol(")", "an operator, ',' or ')'");
  return make(location, std::move(tuple));
}

bool at_aggregation(const Cursor& cursor) {
  const Token& token = cursor.token();
  const Token next = cursor.next();
  if (!cursor.in_brackets()) {  // of a whole comprehension: +/[ v | ... ]
    Cursor ahead = cursor;
    ahead.advance();
    if (!is_symbol(ahead.next(), "[")) return false;
  }
  if (is_symbol(token, "+") || is_symbol(token, "*")) return is_symbol(next, "/");
  return token.kind == Token::Kind::word && is_symbol(next, "/") && adjoins(token, next) &&
         std::any_of(monoid_words.begin(), monoid_words.end(),
                     [&](std::string_view word) { return same_word(token.text, word); });
}

ExpressionPtr aggregation(Cursor& cursor) {
  const Cursor::Nested nested(cursor);
  const Location location = cursor.location();
  std::string monoid(cursor.token().text);
  for (char& c : monoid) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  cursor.advance();
  cursor.advance();
  return make(location, Aggregation{std::move(monoid), operand(cursor)});
}

}  // namespace tessera::sql::grammar
