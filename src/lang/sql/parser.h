#pragma once

#include <string_view>
#include <vector>

#include "lang/sql/ast.h"

// Text to trees. What cannot be read is an ErrorAt of the kind "ParseError", at the first token
// that does not fit; it says what was expected there.
//
// The place of an expression is where it begins, but for operators, which stand where they are
// written: so an error about two operands points between them.

namespace tessera::sql {

/// Statements that are separated by semicolons; the last one may have one too. Where a value can
/// stand, `?` stands for the next of `values`, and all of them have to be used: so what a program
/// has at hand gets into a statement without being written out, whatever characters it has.
std::vector<StatementPtr> parse(std::string_view text, const std::vector<Literal>& values = {});
ExpressionPtr parse_expression(std::string_view text);
QueryPtr parse_query(std::string_view text);

}  // namespace tessera::sql
