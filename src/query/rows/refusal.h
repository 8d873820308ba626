#pragma once

#include "query/rows/expression.h"

// Which expressions may end in an error that depends on values: what decides whether they are
// computed at all, as a condition or the left side of an AND, has to come first.

namespace tessera::query {

/// Whether a kernel may refuse values of these types.
bool may_refuse(const KernelCall& kernel, Types types);

/// Whether an expression, or a part of it, may.
bool may_refuse(const Expression& expression);

/// The same of what costs little, so that it can wait for a join: casts, and divisions of integers.
/// Factorizations of matrices cannot, as each would be made as often as its row is joined.
bool may_refuse_cheaply(const Expression& expression);

}  // namespace tessera::query
