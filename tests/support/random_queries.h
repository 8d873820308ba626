#pragma once

#include <random>
#include <string>
#include <vector>

namespace tessera::testing {

/// Statements that make a few small tables: of tensors with keys, with holes and rows that look the
/// same, of scalars with negative numbers and texts, and an empty one. Keys are multiples of
/// `apart`.
std::string tables_for_random_queries(std::mt19937& chance, int apart = 1);

/// A query over these tables that means something, whatever it means.
std::string random_query(std::mt19937& chance);

}  // namespace tessera::testing
