#pragma once

#include "query/rows/node.h"

namespace tessera::query {

/// The outputs over all combinations of the sources' rows that satisfy the conditions. Expressions
/// read the columns of all sources, one after the other.
///
/// Conditions are applied, and kernels computed, as soon as what they read is there: a join then
/// carries few columns, and a product of tiles of both sides is the projection of their join.
/// Of all that is left, what most equalities connect is joined next; rows that no condition
/// connects are combined last.
NodePtr join_tree(const std::vector<NodePtr>& sources, std::vector<ExpressionPtr> conditions,
                  const std::vector<ExpressionPtr>& outputs, const Schema& schema);

}  // namespace tessera::query
