#include "lang/sql/grammar.h"
#include "lang/sql/words.h"

namespace tessera::sql::grammar {
namespace {

/// `i:` before an index, which names it.
std::string index_variable(Cursor& cursor) {
  if (!cursor.at_name() || cursor.next().text != ":") return {};
  std::string name = cursor.expect_name("an index name");
  cursor.advance();
  return name;
}

/// [i-1], [i-2...i-1] or [i:0...50].
IndexRange index_range(Cursor& cursor) {
  cursor.advance();
  IndexRange range;
  range.location = cursor.location();
  range.variable = index_variable(cursor);
  range.from = expression(cursor);
  if (cursor.take_symbol("...")) {
    if (cursor.at_symbol("]"))
      fail_parse(cursor.location(),
                 "a range without an end is allowed only in CREATE TABLE; add the last version to "
                 "read");
    range.to = expression(cursor);
  }
  cursor.expect_symbol("]", "an operator, '...' or ']' after the index");
  return range;
}

UnionOfVersions union_of_versions(Cursor& cursor) {
  cursor.advance();
  UnionOfVersions found;
  found.name = cursor.expect_name("a table name after UNION");
  if (!cursor.at_symbol("["))
    cursor.fail_expected("the versions of the table, as in UNION t[0...5]");
  found.indices = index_ranges(cursor);
  return found;
}

TableReference table_reference(Cursor& cursor) {
  TableReference table;
  table.location = cursor.location();
  if (cursor.at_word("UNION")) {
    table.source = union_of_versions(cursor);
  } else if (cursor.at_symbol("(")) {
    Cursor ahead = cursor;
    ahead.advance();
    if (!at_query(ahead) && !ahead.at_symbol("("))
      ahead.fail_expected("a query in the parentheses (write joins without parentheses)");
    cursor.advance();
    QueryPtr inside = query(cursor);
    cursor.expect_symbol(")", "')' after the subquery");
    table.source = Derived{std::move(inside)};
  } else if (at_query(cursor)) {
    if (!cursor.at_word("VALUES"))
      fail_parse(cursor.location(), "a subquery in FROM needs parentheses");
    table.source = Derived{bare_values(cursor)};
  } else {
    table.source = version(cursor, "a table name");
  }
  const bool with_as = cursor.take_word("AS");
  const bool plain = cursor.token().kind == Token::Kind::word;
  if (with_as || (cursor.at_name() && !(plain && needs_as(cursor.token().text)))) {
    table.alias = cursor.expect_name("a name after AS");
    if (cursor.at_symbol("(")) table.column_aliases = names_in_parentheses(cursor, "a column name");
  }
  return table;
}

TableReference joined(Cursor& cursor, bool crossed) {
  TableReference table = table_reference(cursor);
  if (crossed) return table;
  cursor.expect_word("ON", "ON and a condition (or use CROSS JOIN)");
  table.on = expression(cursor);
  return table;
}

}  // namespace

std::vector<TableReference> from_list(Cursor& cursor) {
  std::vector<TableReference> tables;
  do {
    tables.push_back(table_reference(cursor));
    while (cursor.at_word("JOIN") || cursor.at_word("INNER") || cursor.at_word("CROSS")) {
      const bool crossed = cursor.at_word("CROSS");
      if (!cursor.at_word("JOIN")) cursor.advance();
      cursor.expect_word("JOIN", crossed ? "JOIN after CROSS" : "JOIN after INNER");
      tables.push_back(joined(cursor, crossed));
    }
  } while (cursor.take_comma());
  return tables;
}

std::vector<IndexRange> index_ranges(Cursor& cursor) {
  std::vector<IndexRange> ranges;
  while (cursor.at_symbol("[")) ranges.push_back(index_range(cursor));
  return ranges;
}

TableName version(Cursor& cursor, std::string_view what) {
  TableName table;
  table.name = cursor.expect_name(what);
  while (cursor.at_symbol("[")) {
    IndexRange index = index_range(cursor);
    if (index.to || !index.variable.empty())
      fail_parse(index.location, "expected one version; use UNION {}[...] to read several",
                 readable(table.name));
    table.indices.push_back(std::move(index));
  }
  return table;
}

std::vector<IndexPattern> index_patterns(Cursor& cursor) {
  std::vector<IndexPattern> patterns;
  while (cursor.take_symbol("[")) {
    IndexPattern pattern;
    pattern.location = cursor.location();
    pattern.variable = index_variable(cursor);
    pattern.from = expression(cursor);
    if (cursor.take_symbol("...")) {
      pattern.unbounded = cursor.at_symbol("]");
      if (!pattern.unbounded) pattern.to = expression(cursor);
    }
    cursor.expect_symbol("]", "an operator, '...' or ']' after the index");
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace tessera::sql::grammar
