#pragma once

#include <random>
#include <string>

namespace tessera::testing {

/// A text in the words of two databases, where these differ.
struct InBoth {
  std::string ours, sqlite;
};

/// Statements that make small tables of integers, numbers and texts, one of them empty.
std::string tables_of_scalars(std::mt19937& chance);

/// A query over these tables that means the same in both: no / of integers, no remainder of what is
/// negative, NULLs in one place of an order, and nothing cut off but from a total order. `ordered`:
/// its rows are a sequence, and not only a multiset.
struct ScalarQuery {
  InBoth text;
  bool ordered = false;
};
ScalarQuery random_scalar_query(std::mt19937& chance);

}  // namespace tessera::testing
