#pragma once

#include <string>

#include "lang/sql/ast.h"

namespace tessera::sql {

/// A tree as a list in parentheses, every operation before its operands: (+ a (* b 2)). Nothing is
/// left out but places, so that equal texts mean equal trees; it shares no code with the printer.
std::string tree(const Expression& expression);
std::string tree(const Query& query);
std::string tree(const Statement& statement);

}  // namespace tessera::sql
