#pragma once

#include <string>

#include "lang/sql/ast.h"

// Trees to text, on one line, that the parser reads back as an equal tree. Types and expressions
// have their to_string in ast.h.

namespace tessera::sql {

std::string to_string(const Query& query);
std::string to_string(const Statement& statement);

/// A name, quoted where it would not be read as one.
std::string quoted_if_needed(const std::string& name);

}  // namespace tessera::sql
