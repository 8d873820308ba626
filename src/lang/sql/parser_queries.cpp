#include "base/stop.h"
#include "lang/sql/grammar.h"
#include "lang/sql/words.h"

namespace tessera::sql::grammar {
namespace {

/// AS alias, or an alias alone unless it looks like the beginning of something else.
std::string alias(Cursor& cursor) {
  if (cursor.take_word("AS")) return cursor.expect_name("a name after AS");
  const bool plain = cursor.token().kind == Token::Kind::word;
  if (!cursor.at_name() || (plain && needs_as(cursor.token().text))) return {};
  return cursor.expect_name("an alias");
}

bool at_star_of_table(const Cursor& cursor) {
  if (!cursor.at_name() || cursor.next().text != ".") return false;
  Cursor ahead = cursor;
  ahead.advance();
  return ahead.next().text == "*";
}

SelectItem select_item(Cursor& cursor) {
  const Location location = cursor.location();
  if (cursor.take_symbol("*")) return {make(location, Star{})};
  if (at_star_of_table(cursor)) {
    std::string table = cursor.expect_name("a table name");
    cursor.advance();
    cursor.advance();
    return {make(location, Star{std::move(table)})};
  }
  ExpressionPtr value = expression(cursor);
  return {std::move(value), alias(cursor)};
}

std::vector<ExpressionPtr> expressions(Cursor& cursor) {
  std::vector<ExpressionPtr> found;
  do found.push_back(expression(cursor));
  while (cursor.take_comma());
  return found;
}

Select select(Cursor& cursor) {
  cursor.advance();
  Select found;
  found.distinct = cursor.take_word("DISTINCT");
  do found.items.push_back(select_item(cursor));
  while (cursor.take_comma());
  if (cursor.take_word("FROM")) found.from = from_list(cursor);
  if (cursor.take_word("WHERE")) found.where = expression(cursor);
  if (cursor.take_word("GROUP")) {
    cursor.expect_word("BY", "BY after GROUP");
    found.group_by = expressions(cursor);
  }
  if (cursor.take_word("HAVING")) found.having = expression(cursor);
  return found;
}

/// In a FROM list, `VALUES (1), (SELECT ...)` are two tables.
bool at_another_row(const Cursor& cursor) {
  if (!cursor.at_symbol(",")) return false;
  Cursor ahead = cursor;
  ahead.advance();
  if (!ahead.take_symbol("(")) return false;
  return !at_query(ahead);
}

Values values(Cursor& cursor) {
  cursor.advance();
  Values found;
  do {
    refuse_if_stopped("parsing the statement");
    const Location location = cursor.location();
    if (!found.rows.empty()) cursor.advance();  // the comma
    cursor.expect_symbol("(", "'(' and the values of a row");
    const Cursor::Nested nested(cursor);
    found.rows.push_back(expressions(cursor));
    cursor.expect_symbol(")", "an operator, ',' or ')' after a value");
    const std::size_t width = found.rows.front().size();
    if (found.rows.back().size() != width)
      fail_parse(
          location,
          "VALUES lists must all have the same length: row {} has {} values, the first row {}",
          found.rows.size(), found.rows.back().size(), width);
  } while (at_another_row(cursor));
  return found;
}

/// SELECT ..., VALUES ... or a query in parentheses: what a UNION joins.
QueryPtr part(Cursor& cursor) {
  const Location location = cursor.location();
  if (cursor.at_symbol("(")) {
    cursor.advance();
    QueryPtr inside = query(cursor);
    cursor.expect_symbol(")", "')' after the query");
    return inside;
  }
  if (cursor.at_word("SELECT"))
    return std::make_shared<const Query>(Query{{}, select(cursor), {}, {}, {}, location});
  if (cursor.at_word("VALUES")) return bare_values(cursor);
  cursor.fail_expected("a query (SELECT, VALUES or a query in parentheses)");
}

QueryPtr unions(Cursor& cursor, QueryPtr left) {
  while (cursor.at_word("UNION")) {
    const Location location = cursor.location();
    cursor.advance();
    const bool all = cursor.take_word("ALL");
    QueryPtr right = part(cursor);
    const Location begin = left->location;
    left = std::make_shared<const Query>(
        Query{{}, UnionOf{std::move(left), std::move(right), all}, {}, {}, {}, begin});
    cursor.add_link(
        location, "UNIONs",
        "group them with parentheses, use VALUES for constants, or INSERT the parts into a "
        "table");
  }
  return left;
}

OrderItem order_item(Cursor& cursor) {
  OrderItem item{expression(cursor)};
  item.descending = cursor.take_word("DESC");
  if (!item.descending) cursor.take_word("ASC");
  return item;
}

/// WITH name (columns) AS ( query ), ...
std::vector<CommonTable> common_tables(Cursor& cursor) {
  std::vector<CommonTable> found;
  if (!cursor.take_word("WITH")) return found;
  do {
    CommonTable table;
    table.location = cursor.location();
    if (cursor.at_word("RECURSIVE")) cursor.fail_expected("a name after WITH");
    table.name = cursor.expect_name("a name after WITH");
    if (cursor.at_symbol("(")) table.columns = names_in_parentheses(cursor, "a column name");
    cursor.expect_word("AS", "AS ( query ) after the name");
    cursor.expect_symbol("(", "'(' before the query of WITH");
    table.query = query(cursor);
    cursor.expect_symbol(")", "')' after the query of WITH");
    found.push_back(std::move(table));
  } while (cursor.take_comma());
  return found;
}

bool is_plain(const Query& query) {
  return query.with.empty() && query.order_by.empty() && !query.limit && !query.offset;
}

/// ORDER BY, LIMIT and OFFSET, which belong to the whole of a UNION.
struct Tail {
  std::vector<OrderItem> order_by;
  ExpressionPtr limit, offset;
};
Tail tail(Cursor& cursor) {
  Tail found;
  if (cursor.take_word("ORDER")) {
    cursor.expect_word("BY", "BY after ORDER");
    do found.order_by.push_back(order_item(cursor));
    while (cursor.take_comma());
  }
  for (int i = 0; i < 2; ++i) {
    if (!found.limit && cursor.take_word("LIMIT")) found.limit = expression(cursor);
    if (!found.offset && cursor.take_word("OFFSET")) found.offset = expression(cursor);
  }
  const Token& next = cursor.token();
  if (next.kind == Token::Kind::word && begins_clause(next.text))
    fail_parse(
        next.location,
        "syntax error at or near \"{}\"; the clauses of a query have the order SELECT, FROM, "
        "WHERE, GROUP BY, HAVING, UNION, ORDER BY, LIMIT, OFFSET",
        next.text);
  return found;
}

/// The query with what stands around it. One in parentheses may have such parts already.
QueryPtr whole(Cursor& cursor, std::vector<CommonTable> with, QueryPtr body) {
  const Location location = cursor.location();
  Tail rest = tail(cursor);
  if (with.empty() && rest.order_by.empty() && !rest.limit && !rest.offset) return body;
  if (!is_plain(*body))
    fail_parse(location,
               "the query in parentheses has its own WITH, ORDER BY, LIMIT or OFFSET; wrap it in "
               "SELECT * FROM ( ... )");
  Query found = *body;
  if (!with.empty()) found.location = with.front().location;
  found.with = std::move(with);
  found.order_by = std::move(rest.order_by);
  found.limit = std::move(rest.limit);
  found.offset = std::move(rest.offset);
  return std::make_shared<const Query>(std::move(found));
}

}  // namespace

std::vector<std::string> names_in_parentheses(Cursor& cursor, std::string_view what) {
  cursor.expect_symbol("(", "'('");
  std::vector<std::string> names;
  do names.push_back(cursor.expect_name(what));
  while (cursor.take_comma());
  cursor.expect_symbol(")", "',' or ')' after a name");
  return names;
}

bool at_query(const Cursor& cursor) {
  return cursor.at_word("SELECT") || cursor.at_word("WITH") ||
         (cursor.at_word("VALUES") && cursor.next().text == "(");
}

QueryPtr bare_values(Cursor& cursor) {
  const Location location = cursor.location();
  return std::make_shared<const Query>(Query{{}, values(cursor), {}, {}, {}, location});
}

QueryPtr query(Cursor& cursor) {
  const Cursor::Nested nested(cursor);
  const Cursor::Chain chain(cursor);
  std::vector<CommonTable> with = common_tables(cursor);
  QueryPtr body = unions(cursor, part(cursor));
  return whole(cursor, std::move(with), std::move(body));
}

// The chain of unions is part of the one that the expression around it has begun.
QueryPtr query_from(Cursor& cursor, QueryPtr first) {
  return whole(cursor, {}, unions(cursor, std::move(first)));
}

}  // namespace tessera::sql::grammar
