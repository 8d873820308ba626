#include "optimizer/simplify.h"
#include "rules/laws.h"
#include "rules/multiplication.h"

namespace tessera::optimizer {
namespace {

std::vector<Rule> with_those_applied(std::vector<Rule> rules) {
  for (const PayingRule& paying : rules_that_pay()) rules.push_back(paying.rule);
  return rules;
}

}  // namespace

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = with_those_applied({
      {"finish_aggregation", "R1-4. Map(id, f) . Agg(g, +) == Agg(g, +, finish f)",
       finish_aggregation},
      {"map_after_aggregation",
       "R1-4. Agg(g, +) . Map(id, f) == Map(id, f) . Agg(g, +) if f distributes over +",
       map_after_aggregation},
      {"map_before_join",
       "R1-7. Map(id, f) . Join(g)(R, S) == Join(g)(Map(id, f)(R), Map(id, f)(S)) if f distributes "
       "over g",
       map_before_join},
      {"last_move_counts", "R2-1. Move(d) . Move(e) == Move(d)", last_move_counts},
      {"move_before_aggregation", "R2-1. Move(d) . Agg(g, +) . Move(e) == Agg(g, +) . Move(d . g)",
       move_before_aggregation},
      {"idle_move", "R2-1. Move(d)(R) == R if R lies at d", idle_move},
      {"map_after_move", "R2-3. Move . Map(k, f) == Map(k, f) . Move", map_after_move},
      {"fill_after_move", "R2-3. Move . Fill == Fill . Move", fill_after_move},
      {"skip_shuffle", "R2-4. Agg(g, +) . Move(R) == Agg(g, +)(R) if each group of R lies together",
       skip_shuffle},
      {"aggregate_twice",
       "R2-5. Agg(g, +) . Move(d) == Agg(id, +) . Move(d') . Agg(g, +) if + is associative and "
       "commutative",
       aggregate_twice},
      {"broadcast_left", "R2-6. Join(R, S) == Join(BCAST(R), S)", broadcast_left},
      {"broadcast_right", "R2-6. Join(R, S) == Join(R, BCAST(S))", broadcast_right},
      {"shuffle_both", "R2-6. Join(R, S) == Join(SHUF(R), SHUF(S))", shuffle_both},
      {"join_in_place", "R2-6. Join(R, S) moved == Join(R, S) if what joins lies together already",
       join_in_place},
      {"join_through_shuffle", "R2-7. SHUF_d . Join(R, S) == Join(R, S) if it lies PART_d",
       join_through_shuffle},
      {"broadcast_multiply_left", "BMM. Agg . Join(R, S) == Agg . SHUF . Agg . Join(BCAST(R), S)",
       [](const ia::Plan& plan) { return broadcast_multiply(plan, Side::left); }},
      {"broadcast_multiply_right", "BMM. Agg . Join(R, S) == Agg . SHUF . Agg . Join(R, BCAST(S))",
       [](const ia::Plan& plan) { return broadcast_multiply(plan, Side::right); }},
      {"cross_product_multiply",
       "CMM. Agg . Join(R, S) == Agg . SHUF . Agg . Join(SHUF(R), SHUF(S))",
       [](const ia::Plan& plan) { return cross_product_multiply(plan); }},
      {"replicated_multiply",
       "RMM. Agg . Join(R, S) == Agg . Join(SHUF(Duplicate(R)), SHUF(Duplicate(S)))",
       replicated_multiply},
      {"grid_multiply", "2D. Agg . Join(R, S) on a grid of the components of the result",
       [](const ia::Plan& plan) { return two_and_a_half_d(plan, 1); }},
      {"two_and_a_half_d", "2.5D. Agg . Join(R, S) on a grid with an axis for the sum",
       [](const ia::Plan& plan) { return two_and_a_half_d(plan); }},
  });
  return rules;
}

}  // namespace tessera::optimizer
