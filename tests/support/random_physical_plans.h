#pragma once

#include <optional>

#include "support/random_plans.h"

namespace tessera {

/// A random relation, or little more: filtered so that it has holes, with another key, with two
/// columns.
Plan random_source(Random& random, int least_rank = 1, int most_rank = 3);

std::vector<int> random_components(Random& random, int arity, double each);
/// A condition on keys of this arity: one comparison, or some joined by `and` and `or`.
KeyPredicate random_predicate(Random& random, int arity);
/// A join of the first columns of two plans on some components.
Plan random_join(Random& random, const Plan& left, const Plan& right,
                 const std::vector<const char*>& kernels);
/// A kernel for the tiles of a plan, one stage for each column.
Plan random_transform(Random& random, const Plan& plan);

/// BCAST, or SHUF to any placement.
ia::Plan random_move(Random& random, const ia::Plan& plan);

/// A plan translated with inputs anywhere, then some of its moves left out, others put in or led
/// elsewhere, and some groups folded in parts.
ia::Plan random_physical(Random& random, const Plan& plan, int sites);

}  // namespace tessera
