#pragma once

#include "optimizer/rules/rule.h"

// The equivalences of Yuan et al., table 2, each a function from a plan to the plan that its law
// makes of the root. The laws stand where the functions are defined, and in all_rules().

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
Rewrite map_before_join(const ia::Plan& plan);
Rewrite map_before_move(const ia::Plan& plan);
Rewrite map_after_move(const ia::Plan& plan);

// aggregations.cpp
Rewrite finish_aggregation(const ia::Plan& plan);
Rewrite map_before_aggregation(const ia::Plan& plan);
Rewrite map_after_aggregation(const ia::Plan& plan);
Rewrite skip_shuffle(const ia::Plan& plan);
Rewrite aggregate_twice(const ia::Plan& plan);
Rewrite aggregate_at(const ia::Plan& plan, const Placement& to);
Rewrite move_before_aggregation(const ia::Plan& plan);

// moves.cpp
Rewrite last_move_counts(const ia::Plan& plan);
Rewrite idle_move(const ia::Plan& plan);
Rewrite fill_after_move(const ia::Plan& plan);

// joins.cpp
Rewrite broadcast_left(const ia::Plan& plan);
Rewrite broadcast_right(const ia::Plan& plan);
Rewrite shuffle_both(const ia::Plan& plan);
Rewrite join_in_place(const ia::Plan& plan);
Rewrite join_through_shuffle(const ia::Plan& plan);

}  // namespace tessera::optimizer
