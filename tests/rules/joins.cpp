#include "rules/joins.h"

#include <algorithm>

#include "rules/laws.h"
#include "rules/moving.h"

// The ways to bring together what joins.

namespace tessera::optimizer {
namespace {

const char* const not_a_join = "it is not a join";

bool is_same_join(const ia::Join& a, const ia::Join& b) {
  const auto same = [](const ia::Plan& x, const ia::Plan& y) {
    return x.is_same(y) ||
           (is_move(x) && is_move(y) && x.placement() == y.placement() &&
            inputs_of(operator_of(x)).front().is_same(inputs_of(operator_of(y)).front()));
  };
  return same(a.left, b.left) && same(a.right, b.right);
}

/// The join at the root with its sides moved another way.
template <class Move>
Rewrite moved_otherwise(const ia::Plan& plan, Move&& move) {
  const auto* join = root<ia::Join>(plan);
  if (join == nullptr) return Rewrite::no(not_a_join);
  return rewritten(plan, [&] {
    ia::Join after = *join;
    after.left = without_moves(join->left);
    after.right = without_moves(join->right);
    move(after);
    if (is_same_join(*join, after)) throw PlanError("the join is done so already");
    return ia::make(after, plan.logical());
  });
}

}  // namespace

void shuffle_on_joined(ia::Join& join) {
  if (join.left_keys.empty())
    throw PlanError("it joins on no key component, so none can be shuffled on");
  const Placement to =
      Placement::part(join.left_keys, join.left.type().frontier, join.left.sites());
  std::vector<int> names(static_cast<std::size_t>(join.left.type().arity()), -1);
  for (std::size_t i = 0; i < join.left_keys.size(); ++i)
    names[join.left_keys[i]] = join.right_keys[i];
  join.left = moved_to(to, join.left);
  join.right = moved_to(to.renumber(names, Axis::Kind::copy), join.right);
}

/// R2-6. Tuples that join meet if one side is everywhere, or if both go where the joined components
/// say. Each form from any other.
///   Join(R, S) moved in any way  ==  Join(BCAST(R), S)
Rewrite broadcast_left(const ia::Plan& plan) {
  return moved_otherwise(plan, [](ia::Join& join) { join.left = broadcast(join.left); });
}

///   Join(R, S) moved in any way  ==  Join(R, BCAST(S))
Rewrite broadcast_right(const ia::Plan& plan) {
  return moved_otherwise(plan, [](ia::Join& join) { join.right = broadcast(join.right); });
}

///   Join(R, S) moved in any way  ==  Join(SHUF_l(R), SHUF_r(S))      on the joined components
Rewrite shuffle_both(const ia::Plan& plan) {
  return moved_otherwise(plan, [](ia::Join& join) { shuffle_on_joined(join); });
}

///   Join(R, S) moved in any way  ==  Join(R, S)      if what joins lies together already
Rewrite join_in_place(const ia::Plan& plan) {
  return moved_otherwise(plan, [](ia::Join&) {});
}

/// R2-7. A shuffle above a join is not needed if the result lies right without it.
///   SHUF_d . Join(R, S)  ==  Join(R, S)      if Part(Join(R, S)) = e and e is within d
/// The result then lies PART_d too, though a key may be at another site than the shuffle would put
/// it.
Rewrite join_through_shuffle(const ia::Plan& plan) {
  const auto* shuffle = root<ia::Shuffle>(plan);
  if (shuffle == nullptr) return Rewrite::no("it is not a shuffle");
  if (root<ia::Join>(shuffle->input) == nullptr) return Rewrite::no("it shuffles no join");
  if (shuffle->to.has_copies()) return Rewrite::no("it asks for copies");
  std::vector<int> components;
  for (const Axis& axis : shuffle->to.axes())
    for (const Digit& digit : axis.digits) components.push_back(digit.component);
  if (!shuffle->input.placement().is_part(components))
    return Rewrite::no("the join lies " + shuffle->input.placement().to_string() + ", not " +
                       shuffle->to.to_string());
  return rewritten(plan, [&] { return shuffle->input; });
}

}  // namespace tessera::optimizer
