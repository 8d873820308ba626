#include "rules/laws.h"
#include "rules/moving.h"

// What moves tuples and does nothing else.

namespace tessera::optimizer {
namespace {

const char* const not_a_move = "it is not a move";

ia::Plan source_of(const ia::Plan& move) { return inputs_of(operator_of(move)).front(); }

}  // namespace

/// R2-1. Of several moves only the last one counts.
///   Move(d) . Move(e) ... (R)  ==  Move(d) (R)
Rewrite last_move_counts(const ia::Plan& plan) {
  if (!is_move(plan)) return Rewrite::no(not_a_move);
  if (!is_move(source_of(plan))) return Rewrite::no("it moves no move");
  return rewritten(plan, [&] { return moved_as(plan, without_moves(plan)); });
}

/// A move to where everything is already moves nothing.
///   Move(d) (R)  ==  R      if R lies at d
Rewrite idle_move(const ia::Plan& plan) {
  if (!is_move(plan)) return Rewrite::no(not_a_move);
  const ia::Plan source = source_of(plan);
  if (!(source.placement() == plan.placement())) return Rewrite::no("it moves tuples");
  return rewritten(plan, [&] { return source; });
}

/// Zeros are filled in where they are wanted; they need not travel.
///   Move . Fill (R)  ==  Fill . Move (R)
Rewrite fill_after_move(const ia::Plan& plan) {
  if (!is_move(plan)) return Rewrite::no(not_a_move);
  const auto* fill = root<ia::Fill>(source_of(plan));
  if (fill == nullptr) return Rewrite::no("it moves no zeros that were filled in");
  return rewritten(plan, [&] { return moved_as(plan, fill->input).fill(); });
}

}  // namespace tessera::optimizer
