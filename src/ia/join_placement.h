#pragma once

#include "tessera/ia.h"

namespace tessera::ia {

/// Where the tuples of a local join come to lie, in terms of the join's own key. PlanError if
/// tuples that should meet may be at different sites.
Placement join_placement(const Join& join);

/// What the components of the right key are called in the key of the result.
std::vector<int> right_in_result(const std::vector<int>& left_keys,
                                 const std::vector<int>& right_keys, int left_arity,
                                 int right_arity);

}  // namespace tessera::ia
