#pragma once

#include "optimizer/rules/rewriting.h"

// What the rules about moves have in common.

namespace tessera::optimizer {

ia::Plan without_moves(ia::Plan plan);                  // what the moves at the root move
ia::Plan moved_to(const Placement& to, ia::Plan what);  // if it does not lie there already
ia::Plan broadcast(ia::Plan what);                      // likewise

/// What an aggregation without its finish computes, where that is known.
std::optional<tessera::Plan> unfinished(const ia::Plan& aggregation);

/// <0, ..., arity-1>
std::vector<int> all_components(int arity);

}  // namespace tessera::optimizer
