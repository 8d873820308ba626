#include "lang/sql/grammar.h"

namespace tessera::sql::grammar {
namespace {

/// A column's definition, or PRIMARY KEY (a, b).
void column(Cursor& cursor, CreateTable& table) {
  const Location location = cursor.location();
  const auto add_key = [&](std::vector<std::string> columns) {
    if (!table.primary_key.empty())
      fail_parse(location,
                 "multiple primary keys are not allowed; write a key of several columns as "
                 "PRIMARY KEY (a, b) after them");
    table.primary_key = std::move(columns);
  };
  if (cursor.at_word("PRIMARY") && cursor.next().kind == Token::Kind::word) {
    cursor.advance();
    cursor.expect_word("KEY", "KEY after PRIMARY");
    return add_key(names_in_parentheses(cursor, "a column name"));
  }
  ColumnDefinition column;
  column.location = location;
  column.name = cursor.expect_name("a column name");
  if (cursor.at_word("NOT"))
    fail_parse(cursor.location(), "the only column constraint is PRIMARY KEY; remove NOT NULL");
  if (!cursor.at_symbol(",") && !cursor.at_symbol(")") && !cursor.at_word("PRIMARY"))
    column.type = type(cursor);
  if (cursor.take_word("PRIMARY")) {
    cursor.expect_word("KEY", "KEY after PRIMARY");
    add_key({column.name});
  }
  if (cursor.at_word("NOT") || cursor.at_word("DEFAULT") || cursor.at_word("UNIQUE") ||
      cursor.at_word("REFERENCES") || cursor.at_word("CHECK"))
    fail_parse(cursor.location(), "the only column constraint is PRIMARY KEY; remove this one");
  table.columns.push_back(std::move(column));
}

/// Without a query to tell them, columns and their types are said.
void require_columns(const Cursor& cursor, const CreateTable& table) {
  if (table.columns.empty())
    fail_parse(cursor.end_of_last(), "table \"{}\" has no columns", readable(table.name));
  for (const ColumnDefinition& column : table.columns)
    if (!column.type)
      fail_parse(
          column.location,
          "column \"{}\" needs a type, as in {} INT; only CREATE TABLE ... AS takes types from "
          "a query",
          readable(column.name), readable(column.name));
}

/// Each of these clauses may stand once, in any order.
template <class Value>
void once(const Cursor& cursor, const Value& value) {
  if (value) fail_parse(cursor.location(), "{} specified more than once", cursor.token().text);
}

std::vector<int> dimensions(Cursor& cursor) {
  cursor.expect_word("BY", "BY after PARTITION");
  cursor.expect_symbol("(", "'(' and dimensions, as in PARTITION BY (0)");
  std::vector<int> found;
  do {
    const Location location = cursor.location();
    const std::int64_t dimension = cursor.expect_integer("a dimension, counted from 0");
    if (dimension >= max_rank)
      fail_parse(location, "a dimension must be between 0 and {}", max_rank - 1);
    found.push_back(static_cast<int>(dimension));
  } while (cursor.take_comma());
  cursor.expect_symbol(")", "',' or ')' after a dimension");
  return found;
}

bool tensor_clause(Cursor& cursor, CreateTensor& tensor) {
  if (cursor.at_word("OF")) {
    once(cursor, tensor.element);
    cursor.advance();
    tensor.element = element_type(cursor);
  } else if (cursor.at_word("FROM")) {
    once(cursor, tensor.file);
    cursor.advance();
    tensor.file = cursor.expect_string("a file name, as in FROM 'x.npy'");
  } else if (cursor.at_word("WITH")) {
    once(cursor, !tensor.options.empty());
    cursor.advance();
    tensor.options = options_in_parentheses(cursor);
  } else if (cursor.at_word("TILE")) {
    once(cursor, tensor.tile);
    cursor.advance();
    tensor.tile = sizes(cursor, "a tile");
  } else if (cursor.at_word("PARTITION")) {
    once(cursor, tensor.partition_by);
    cursor.advance();
    tensor.partition_by = dimensions(cursor);
  } else if (cursor.at_word("VIRTUAL")) {
    once(cursor, tensor.is_virtual);
    cursor.advance();
    tensor.is_virtual = true;
  } else if (cursor.at_word("AS")) {
    once(cursor, tensor.is_computed());
    cursor.advance();
    if (cursor.at_symbol("{")) {
      tensor.program = std::make_shared<const Program>(program(cursor));
      return true;
    }
    if (cursor.at_word("SELECT") || cursor.at_word("WITH"))
      fail_parse(
          cursor.location(),
          "CREATE TENSOR needs an expression over tensors, not a query; use CREATE TABLE ... AS "
          "SELECT");
    tensor.expression = expression(cursor);
  } else {
    return false;
  }
  return true;
}

/// IF NOT EXISTS, which leaves alone what OR REPLACE replaces.
bool if_not_exists_alone(Cursor& cursor, bool or_replace) {
  const Location location = cursor.location();
  const bool found = if_not_exists(cursor);
  if (found && or_replace) fail_parse(location, "use only one of OR REPLACE and IF NOT EXISTS");
  return found;
}

}  // namespace

bool if_not_exists(Cursor& cursor) {
  if (!cursor.at_word("IF") || cursor.next().kind != Token::Kind::word) return false;
  cursor.advance();
  cursor.expect_word("NOT", "NOT EXISTS after IF");
  cursor.expect_word("EXISTS", "EXISTS after IF NOT");
  return true;
}

CreateTable create_table(Cursor& cursor, bool or_replace) {
  CreateTable table;
  table.or_replace = or_replace;
  table.if_not_exists = if_not_exists_alone(cursor, or_replace);
  table.name = cursor.expect_name("the name of the new table");
  if (or_replace && cursor.at_symbol("["))
    fail_parse(cursor.location(),
               "CREATE OR REPLACE cannot define versions of a table; use DROP TABLE {} first",
               readable(table.name));
  table.indices = index_patterns(cursor);
  if (!cursor.at_symbol("(") && !cursor.at_word("AS"))
    cursor.fail_expected("the columns in parentheses, or AS and a query");
  if (cursor.take_symbol("(")) {
    do column(cursor, table);
    while (cursor.take_comma());
    cursor.expect_symbol(")", "',' or ')' after a column");
  }
  if (!cursor.take_word("AS")) {
    require_columns(cursor, table);
  } else if (table.query = query(cursor); !table.indices.empty()) {
    auto rule = std::make_shared<Query>(*table.query);
    rule->of_rule = true;
    table.query = std::move(rule);
  }
  return table;
}

CreateTensor create_tensor(Cursor& cursor, bool or_replace) {
  CreateTensor tensor;
  tensor.or_replace = or_replace;
  tensor.if_not_exists = if_not_exists_alone(cursor, or_replace);
  tensor.name = cursor.expect_name("the name of the new tensor");
  while (cursor.take_comma())
    tensor.others.push_back(cursor.expect_name("the name of another new tensor"));
  if (cursor.at_symbol("[")) tensor.shape = sizes(cursor, "the tensor");
  while (tensor_clause(cursor, tensor)) continue;
  const int sources =
      (tensor.file ? 1 : 0) + (tensor.is_computed() ? 1 : 0) + (tensor.is_virtual ? 1 : 0);
  if (sources == 0) cursor.fail_expected("FROM 'file', AS expression or VIRTUAL");
  if (sources > 1)
    fail_parse(cursor.end_of_last(),
               "tensor \"{}\" has several sources; use only one of FROM 'file', AS expression and "
               "VIRTUAL",
               readable(tensor.name));
  if (!tensor.others.empty() && !tensor.program)
    fail_parse(cursor.end_of_last(), "only a program, AS {{ ... }}, makes several tensors");
  if (tensor.is_virtual && !tensor.shape)
    fail_parse(cursor.end_of_last(),
               "a virtual tensor needs a shape, as in CREATE TENSOR {} [4000][4000] VIRTUAL",
               readable(tensor.name));
  if (!tensor.options.empty() && !tensor.file)
    fail_parse(cursor.end_of_last(), "WITH ( ... ) sets options of a file; add FROM 'file'");
  if (tensor.file && or_replace)
    fail_parse(cursor.end_of_last(),
               "CREATE OR REPLACE TENSOR cannot read a file; use DROP TENSOR {} first, or create "
               "another tensor from the file and replace this one AS that",
               readable(tensor.name));
  return tensor;
}

CreateView create_view(Cursor& cursor) {
  CreateView view;
  view.name = cursor.expect_name("the name of the new view");
  if (cursor.at_symbol("(")) view.columns = names_in_parentheses(cursor, "a column name");
  cursor.expect_word("AS", "AS and a query");
  view.query = query(cursor);
  return view;
}

}  // namespace tessera::sql::grammar
