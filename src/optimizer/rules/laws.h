#pragma once

#include "optimizer/rules/rule.h"

// The equivalences of Yuan et al., table 2, that the optimizer applies, each a function from a plan
// to the plan that its law makes of the root. The laws stand where the functions are defined.

namespace tessera::optimizer {

// filters.cpp
Rewrite merge_filters(const ia::Plan& plan);
Rewrite filter_before_map(const ia::Plan& plan);
Rewrite filter_before_aggregation(const ia::Plan& plan);
Rewrite filter_before_join(const ia::Plan& plan);
Rewrite filter_before_move(const ia::Plan& plan);

// maps.cpp
Rewrite merge_maps(const ia::Plan& plan);
Rewrite map_into_join(const ia::Plan& plan);
Rewrite map_before_move(const ia::Plan& plan);

// aggregations.cpp
Rewrite map_before_aggregation(const ia::Plan& plan);
Rewrite aggregate_before_rekey(const ia::Plan& plan);

/// The numbers in the tiles of a relation, by the bound of their shapes.
double floats_in(const ia::Plan& plan);
/// A map and a move may change places: after a BCAST every key is everywhere, but a SHUF places
/// tuples by keys that the map must not have changed.
bool commutes(const ia::Map& map, const ia::Plan& move);
inline const char* const shuffles_other_keys = "the map changes the keys that the shuffle uses";

}  // namespace tessera::optimizer
