#pragma once

#include "query/table.h"

namespace tessera::query {

/// An expression of integers as a function of keys, where all it reads is; none otherwise.
/// Sums, differences and products of 64 bits wrap around as values and are errors in keys: they are
/// taken for the same, as keys are far below that.
std::optional<KeyExpr> key_expression(const Expression& expression,
                                      const std::vector<Table::Where>& places,
                                      Parameters parameters);
/// A condition as a predicate on keys.
std::optional<KeyPredicate> key_predicate(const Expression& condition,
                                          const std::vector<Table::Where>& places,
                                          Parameters parameters);

}  // namespace tessera::query
