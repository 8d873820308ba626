#pragma once

#include "query/lowering/table.h"

namespace tessera::query {

/// An expression of integers as a function of keys, where all it reads is; none otherwise.
std::optional<KeyExpr> key_expression(const Expression& expression,
                                      const std::vector<Table::ColumnOrigin>& origins,
                                      Parameters parameters);
/// The same, and none if it might have no value at a key below the frontier. Of values, sums,
/// differences and products wrap around, and a division by zero is an error with a place; of keys
/// all of that is an error without one. So only rows can tell, unless it cannot happen.
std::optional<KeyExpr> key_expression(const Expression& expression,
                                      const std::vector<Table::ColumnOrigin>& origins,
                                      Parameters parameters, const Key& frontier);
/// A condition as a predicate on keys that has a value at all below the frontier.
std::optional<KeyPredicate> key_predicate(const Expression& condition,
                                          const std::vector<Table::ColumnOrigin>& origins,
                                          Parameters parameters, const Key& frontier);

}  // namespace tessera::query
