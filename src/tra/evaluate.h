#pragma once

#include <vector>

#include "tessera/plan.h"
#include "tra/tuple_set.h"

namespace tessera {

/// The seven operators, by their definitions: one tuple after the other, nothing clever. Over
/// tiles this is the reference interpreter; over tile types it finds the type of every tuple of a
/// result without computing it. `result` is what is known of the result's type; its frontier and
/// presence are set from the tuples where they depend on them.
template <class Payload>
TupleSet<Payload> evaluate(const Operator& op, const std::vector<const TupleSet<Payload>*>& inputs,
                           const RelationType& result);

/// Whether the zeros that a sparse input leaves out stay zeros, or are added, so that they need
/// not be filled in: the input of an aggregation or a transformation, and each side of a join.
bool may_skip_zeros(const std::vector<KernelCall>& folds);
bool may_skip_zeros(const std::vector<Apply>& transformation);
bool may_skip_zeros(const op::Join& join, bool left);

}  // namespace tessera
