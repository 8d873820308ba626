#pragma once

#include "key/interval.h"
#include "key/solver.h"

namespace tessera {

/// That the filter of a set, or the map where the filter holds, has no value at a point of the
/// box: something overflows or divides by zero that `and` and `or` do not stop short of.
KeyQuery::Condition has_no_value(KeyQuery& query, const KeySet& keys, const KeyQuery::Point& point);

}  // namespace tessera
