#pragma once

#include <utility>

#include "lang/characters.h"
#include "lang/sql/ast.h"
#include "lang/sql/cursor.h"
#include "lang/sql/program.h"

// The parser's parts. Each reads what it is named after, beginning at the cursor's token, and
// leaves the cursor behind it.

namespace tessera::sql::grammar {

using lang::fail_parse;
using lang::readable;

template <class Node>
ExpressionPtr make(Location location, Node node) {
  return std::make_shared<const Expression>(Expression{std::move(node), location});
}

// Expressions: operators in parser_operators.cpp, what stands between them in parser_operands.cpp
// and parser_calls.cpp.
ExpressionPtr expression(Cursor& cursor);
ExpressionPtr operand(Cursor& cursor);
ExpressionPtr call(Cursor& cursor, std::string function, Location location);

// parser_comprehension.cpp: what stands between [ and ], of which an array is one form.
ExpressionPtr bracketed(Cursor& cursor);
/// tensor(2, 3)[ ... ]
bool at_storage(const Cursor& cursor);
ExpressionPtr stored_comprehension(Cursor& cursor);
/// Behind an expression in parentheses, if a comma follows: the rest of a tuple.
ExpressionPtr tuple_from(Cursor& cursor, ExpressionPtr first, Location location);
/// Whether +/v, or the like, begins here.
bool at_aggregation(const Cursor& cursor);
ExpressionPtr aggregation(Cursor& cursor);

// parser_loop.cpp
Program program(Cursor& cursor);

// parser_types.cpp
Type type(Cursor& cursor);
DType element_type(Cursor& cursor);  // FLOAT, after OF
/// [2][3], or (2, 3) as in other dialects.
Shape sizes(Cursor& cursor, std::string_view of_what);
std::vector<std::string_view> type_words();  // all names of types

// parser_queries.cpp
bool at_query(const Cursor& cursor);  // SELECT, WITH or VALUES (, without parentheses around it
QueryPtr query(Cursor& cursor);
/// What follows a query that has been read, in parentheses, and that may be the first of a UNION.
QueryPtr query_from(Cursor& cursor, QueryPtr first);
/// VALUES in a FROM list, without parentheses around it.
QueryPtr bare_values(Cursor& cursor);
std::vector<std::string> names_in_parentheses(Cursor& cursor, std::string_view what);

// parser_tables.cpp
std::vector<TableReference> from_list(Cursor& cursor);
TableName version(Cursor& cursor, std::string_view what);  // t, or t[50][j]
std::vector<IndexRange> index_ranges(Cursor& cursor);      // none, or [0...5][j:1...3]
std::vector<IndexPattern> index_patterns(Cursor& cursor);

// parser_statements.cpp, parser_create.cpp, parser_execute.cpp
StatementPtr statement(Cursor& cursor);
CreateTable create_table(Cursor& cursor, bool or_replace);
CreateTensor create_tensor(Cursor& cursor, bool or_replace);
CreateView create_view(Cursor& cursor);
bool if_not_exists(Cursor& cursor);
Options options_in_parentheses(Cursor& cursor);
/// More options, none of which is there already.
void add_options_in_parentheses(Cursor& cursor, Options& options);
ExpressionPtr setting(Cursor& cursor);  // the value of an option: on, csv, '2 GB', 4
Execute execute(Cursor& cursor);
Materialize materialize(Cursor& cursor);

}  // namespace tessera::sql::grammar
