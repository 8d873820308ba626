#include "lang/sql/grammar.h"

// EXECUTE ( item; item; ... ): everything in one plan. An item is a query, MATERIALIZE, or a loop
//   FOR i IN 0...9: item
//   FOR i IN 0...9: ( item; item; ... )
// whose body is the one item after the colon, another loop perhaps, or several in parentheses.
// Parentheses after a colon are these, and not those of a query.

namespace tessera::sql::grammar {
namespace {

std::vector<ExecuteItem> items(Cursor& cursor);

std::shared_ptr<const Loop> loop(Cursor& cursor);

ExecuteItem item(Cursor& cursor) {
  if (cursor.at_word("FOR")) return loop(cursor);
  if (cursor.take_word("MATERIALIZE")) return materialize(cursor);
  if (at_query(cursor) || cursor.at_symbol("(")) return query(cursor);
  cursor.fail_expected("a query, MATERIALIZE or FOR");
}

std::shared_ptr<const Loop> loop(Cursor& cursor) {
  const Cursor::Nested nested(cursor);
  Loop found;
  found.location = cursor.location();
  cursor.advance();
  found.variable = cursor.expect_name("the name of the loop index");
  cursor.expect_word("IN", "IN and a range, as in FOR i IN 0...9:");
  found.from = expression(cursor);
  cursor.expect_symbol("...", "'...' between the ends of the range");
  found.to = expression(cursor);
  cursor.expect_symbol(":", "':' before the body of the loop");
  if (cursor.at_symbol("("))
    found.body = items(cursor);
  else
    found.body.push_back(item(cursor));
  return std::make_shared<const Loop>(std::move(found));
}

std::vector<ExecuteItem> items(Cursor& cursor) {
  cursor.expect_symbol("(", "'('");
  std::vector<ExecuteItem> found;
  do {
    if (!found.empty() && cursor.at_symbol(")")) break;  // the last may have a semicolon too
    found.push_back(item(cursor));
  } while (cursor.take_symbol(";"));
  cursor.expect_symbol(")", "';' and another statement, or ')'");
  return found;
}

}  // namespace

Materialize materialize(Cursor& cursor) {
  const Location location = cursor.location();
  return {version(cursor, "a table name after MATERIALIZE"), location};
}

Execute execute(Cursor& cursor) {
  if (!cursor.at_symbol("(")) cursor.fail_expected("'(' and statements after EXECUTE");
  return {items(cursor)};
}

}  // namespace tessera::sql::grammar
