#pragma once

#include "optimizer/rules/laws.h"
#include "rules/moving.h"

// The other equivalences of Yuan et al., table 2. The search takes them for granted, as it forgets
// all moves first: they are held to the reference evaluator here, and the plans of the paper are
// derived with them.

namespace tessera::optimizer {

Rewrite map_before_join(const ia::Plan& plan);
Rewrite map_after_move(const ia::Plan& plan);
Rewrite finish_aggregation(const ia::Plan& plan);
Rewrite map_after_aggregation(const ia::Plan& plan);
Rewrite skip_shuffle(const ia::Plan& plan);
Rewrite aggregate_twice(const ia::Plan& plan);
Rewrite aggregate_at(const ia::Plan& plan, const Placement& to);
Rewrite move_before_aggregation(const ia::Plan& plan);
Rewrite last_move_counts(const ia::Plan& plan);
Rewrite idle_move(const ia::Plan& plan);
Rewrite fill_after_move(const ia::Plan& plan);
Rewrite broadcast_left(const ia::Plan& plan);
Rewrite broadcast_right(const ia::Plan& plan);
Rewrite shuffle_both(const ia::Plan& plan);
Rewrite join_in_place(const ia::Plan& plan);
Rewrite join_through_shuffle(const ia::Plan& plan);

/// All rules that need no parameter, R1-1 to R2-7 and the matrix multiplications.
const std::vector<Rule>& all_rules();

}  // namespace tessera::optimizer
