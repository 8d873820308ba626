#pragma once

#include <string_view>
#include <vector>

namespace tessera::sql {

/// Statements that are read, at least one of every kind, to be mutated.
const std::vector<std::string_view>& statement_seeds();

/// Pieces that statements are made of, and others that lead astray.
const std::vector<std::string_view>& token_seeds();

}  // namespace tessera::sql
