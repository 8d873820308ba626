#include <algorithm>

#include "lang/sql/grammar.h"
#include "lang/sql/words.h"

namespace tessera::sql::grammar {
namespace {

ExpressionPtr literal(Cursor& cursor) {
  const Token token = cursor.token();
  if (token.wants_minus) lang::fail_too_large(token);
  cursor.advance();
  if (token.kind == Token::Kind::integer) return make(token.location, Literal{token.integer});
  if (token.kind == Token::Kind::decimal) return make(token.location, Literal{token.decimal});
  return make(token.location, Literal{unquoted(token)});
}

/// ( expression ), ( query ) or, in an array comprehension, a tuple. After ((, only what follows
/// tells which of them it is.
ExpressionPtr parenthesised(Cursor& cursor) {
  const Cursor::Nested nested(cursor);
  const Location location = cursor.location();
  cursor.advance();
  const Cursor::Slices none(cursor, false);
  ExpressionPtr inside;
  if (at_query(cursor)) {
    inside = make(location, ScalarSubquery{query(cursor)});
  } else {
    const bool may_be_query = cursor.at_symbol("(");
    inside = expression(cursor);
    const auto* subquery = std::get_if<ScalarSubquery>(&inside->node);
    if (may_be_query && subquery != nullptr && !cursor.at_symbol(")"))
      inside = make(location, ScalarSubquery{query_from(cursor, subquery->query)});
  }
  if (cursor.in_brackets() && cursor.at_symbol(","))
    return tuple_from(cursor, std::move(inside), location);
  cursor.expect_symbol(")", "an operator or ')'");
  return inside;
}

ExpressionPtr case_of(Cursor& cursor) {
  const Cursor::Nested nested(cursor);
  const Location location = cursor.location();
  cursor.advance();
  Case found;
  if (!cursor.at_word("WHEN")) found.operand = expression(cursor);
  if (!cursor.at_word("WHEN")) cursor.fail_expected("WHEN after CASE");
  while (cursor.take_word("WHEN")) {
    ExpressionPtr condition = expression(cursor);
    cursor.expect_word("THEN", "THEN after the condition of WHEN");
    found.branches.emplace_back(std::move(condition), expression(cursor));
  }
  if (cursor.take_word("ELSE")) found.otherwise = expression(cursor);
  cursor.expect_word("END", found.otherwise ? "END of the CASE" : "WHEN, ELSE or END of the CASE");
  return make(location, std::move(found));
}

ExpressionPtr cast(Cursor& cursor, Location location) {
  const Cursor::Nested nested(cursor);
  cursor.expect_symbol("(", "'(' after CAST");
  ExpressionPtr value = expression(cursor);
  cursor.expect_word("AS", "AS and a type in CAST(value AS type)");
  const Type to = type(cursor);
  cursor.expect_symbol(")", "')' after the type of CAST");
  return make(location, Cast{std::move(value), to});
}

bool at_end_of_part(const Cursor& cursor) {
  return cursor.at_symbol(",") || cursor.at_symbol("]") || cursor.at_symbol(":");
}

/// An index, or a slice: from:to:step.
ExpressionPtr index_or_slice(Cursor& cursor) {
  const Location location = cursor.location();
  if (cursor.take_symbol("...")) return make(location, Slice{nullptr, nullptr, nullptr, true});
  const Cursor::Slices allowed(cursor, true);
  Slice slice;
  if (!cursor.at_symbol(":") && !cursor.at_symbol("::")) {
    slice.from = expression(cursor);
    if (!cursor.at_symbol(":") && !cursor.at_symbol("::")) return slice.from;
  }
  bool has_step = cursor.take_symbol("::");
  if (!has_step) {
    cursor.expect_symbol(":", "':'");
    if (!at_end_of_part(cursor)) slice.to = expression(cursor);
    has_step = cursor.take_symbol(":");
  }
  if (has_step && !at_end_of_part(cursor)) slice.step = expression(cursor);
  return make(location, std::move(slice));
}

/// [i, 0:10]; what it begins with has been read.
std::vector<ExpressionPtr> indices_of(Cursor& cursor, const std::string& of) {
  std::vector<ExpressionPtr> indices{index_or_slice(cursor)};
  if (cursor.at_symbol("..."))
    fail_parse(cursor.location(),
               "an expression cannot read several versions; SELECT from UNION {}[...] instead", of);
  while (cursor.take_comma()) indices.push_back(index_or_slice(cursor));
  cursor.expect_symbol("]", "']' after the index");
  return indices;
}

/// W[i][j] is a version, or an element; with slices it is a part of a tensor.
ExpressionPtr versioned(Cursor& cursor, std::string name, Location location) {
  const Cursor::Nested nested(cursor);
  const std::string shown = readable(name);
  Versioned found{std::move(name), {}};
  while (cursor.take_symbol("[")) {
    std::vector<ExpressionPtr> indices = indices_of(cursor, shown);
    const bool plain = std::none_of(indices.begin(), indices.end(), [](const ExpressionPtr& index) {
      return std::holds_alternative<Slice>(index->node);
    });
    if (!plain) {
      ExpressionPtr operand = found.indices.empty() ? make(location, Name{{}, found.name})
                                                    : make(location, std::move(found));
      return make(location, Indexed{std::move(operand), std::move(indices)});
    }
    found.indices.insert(found.indices.end(), indices.begin(), indices.end());
  }
  return make(location, std::move(found));
}

/// Whether [ after it begins its indices.
bool may_be_indexed(const Expression& value) {
  return !std::holds_alternative<Literal>(value.node) && !std::holds_alternative<Star>(value.node);
}

/// A column, a function's call or a version of a table.
ExpressionPtr named(Cursor& cursor) {
  const Location location = cursor.location();
  const bool plain = cursor.token().kind == Token::Kind::word;
  if (cursor.at_where_call()) {
    cursor.advance();
    return call(cursor, "where", location);
  }
  std::string name = cursor.expect_name("an expression");
  if (cursor.at_symbol("("))
    return plain && same_word(name, "CAST") ? cast(cursor, location)
                                            : call(cursor, std::move(name), location);
  if (cursor.at_symbol("[")) return versioned(cursor, std::move(name), location);
  if (!cursor.take_symbol(".")) return make(location, Name{{}, std::move(name)});
  if (cursor.at_symbol("*"))
    fail_parse(location, "{}.* is allowed only in the list of a SELECT", readable(name));
  std::string column = cursor.expect_name("a column name after the dot");
  if (cursor.at_symbol("("))
    fail_parse(location, "a function name cannot be qualified; write {}(...)", readable(column));
  if (cursor.at_symbol("[") && !same_word(column, "T"))
    fail_parse(cursor.location(), "an index must follow the name of a table, not of a column");
  return make(location, Name{std::move(name), std::move(column)});
}

ExpressionPtr primary(Cursor& cursor) {
  const Location location = cursor.location();
  switch (cursor.token().kind) {
    case Token::Kind::integer:
    case Token::Kind::decimal:
    case Token::Kind::string: return literal(cursor);
    case Token::Kind::quoted_name: return named(cursor);
    case Token::Kind::word:
      if (cursor.at_word("CASE")) return case_of(cursor);
      if (cursor.take_word("NULL")) return make(location, Literal{Null{}});
      if (cursor.take_word("TRUE")) return make(location, Literal{true});
      if (cursor.take_word("FALSE")) return make(location, Literal{false});
      if (cursor.at_word("SELECT"))
        fail_parse(location, "a subquery in an expression needs its own parentheses");
      return named(cursor);
    case Token::Kind::symbol:
      if (cursor.at_symbol("(")) return parenthesised(cursor);
      if (cursor.at_symbol("[")) return bracketed(cursor);
      if (cursor.at_symbol("?")) return make(location, cursor.take_value());
      if (cursor.at_symbol("*"))
        fail_parse(location, "* is allowed only in the list of a SELECT and in COUNT(*)");
      break;
    case Token::Kind::end: break;
  }
  cursor.fail_expected("an expression");
}

/// In an index :: may be an empty part of a slice, as in [1::2], unless a type follows.
bool at_cast(const Cursor& cursor) {
  if (!cursor.at_symbol("::")) return false;
  const Token next = cursor.next();
  const auto words = type_words();
  return !cursor.in_slice() || (next.kind == Token::Kind::word &&
                                std::any_of(words.begin(), words.end(), [&](std::string_view word) {
                                  return same_word(next.text, word);
                                }));
}

}  // namespace

ExpressionPtr operand(Cursor& cursor) {
  if (at_aggregation(cursor)) return aggregation(cursor);
  ExpressionPtr value = at_storage(cursor) ? stored_comprehension(cursor) : primary(cursor);
  while (true) {
    const Location location = cursor.location();
    if (at_cast(cursor)) {
      cursor.advance();
      value = make(location, Cast{std::move(value), type(cursor)});
    } else if (cursor.take_symbol(".")) {
      if (!cursor.take_word("T"))
        fail_parse(cursor.location(),
                   "only .T, the transpose, can follow here; a name has at most two parts, "
                   "table.column");
      value = make(location, Transposed{std::move(value)});
    } else if (may_be_indexed(*value) && cursor.take_symbol("[")) {
      value = make(value->location, Indexed{value, indices_of(cursor, "it")});
    } else {
      return value;
    }
    cursor.add_link(location, "operations",
                    "group them with parentheses, or use IN, VALUES or an aggregate");
  }
}

}  // namespace tessera::sql::grammar
