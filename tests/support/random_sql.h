#pragma once

#include "lang/sql/ast.h"
#include "support/random_tiles.h"

namespace tessera::sql {

/// Statements as the parser could have made them, of any kind and with all that trees can hold;
/// names are also such as must be quoted.
StatementPtr random_statement(Random& random);
QueryPtr random_query(Random& random, int depth);
ExpressionPtr random_expression(Random& random, int depth);

}  // namespace tessera::sql
