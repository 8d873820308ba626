#pragma once

#include "query/loops/chain.h"

namespace tessera::query {

/// A loop in which numbers that each iteration makes for itself,
///   for i = 0, n-1 do { s := 0.0; for j = 0, m-1 do s += A[i, j]; R[i] := s }
/// are arrays with an element for each iteration, so that iterations share nothing.
struct Expanded {
  sql::StepPtr loop;
  std::map<std::string, Shape> arrays;  // by the names that they have there
};

/// `numbers`: the names that may be such, as nothing outside of loops has to do with them.
/// Nothing if there is none.
std::optional<Expanded> expanded(const sql::Step& loop, const Chain& around,
                                 const std::set<std::string>& numbers, const sql::Program& program,
                                 const IndexFunctions& functions);

}  // namespace tessera::query
