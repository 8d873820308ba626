#include <algorithm>

#include "ia/contents.h"
#include "optimizer/rules/laws.h"
#include "optimizer/rules/rewriting.h"
#include "tra/plan_node.h"

// A map wants to become part of what it follows, and to run where there is less to move.

namespace tessera::optimizer {
namespace {

const char* const not_a_map = "it is not a map";

/// The key function of what is done by `inner` and then by `outer`.
std::optional<KeyFunction> composed(const std::optional<KeyFunction>& outer,
                                    const std::optional<KeyFunction>& inner) {
  if (outer && inner) return outer->compose(*inner);
  return outer ? outer : inner;
}

}  // namespace

double floats_in(const ia::Plan& plan) {
  const RelationType& type = plan.type();
  const bool filled =
      plan.logical().type().presence == Presence::sparse && type.presence != Presence::sparse;
  const std::int64_t tuples =
      filled ? count_below(type.frontier) : plan.logical().cardinality().tuples;
  return static_cast<double>(tuples) * ia::floats_of(type.columns);
}

bool commutes(const ia::Map& map, const ia::Plan& move) {
  return root<ia::Broadcast>(move) != nullptr || keeps_keys(map);
}

/// R1-2. Maps of one output each can be merged.
///   Map(h, f) . Map(k, g) (R)  ==  Map(h . k, f . g) (R)
/// The outer one may not cut: what is to be cut then is no longer there.
Rewrite merge_maps(const ia::Plan& plan) {
  const auto* outer = root<ia::Map>(plan);
  if (outer == nullptr) return Rewrite::no(not_a_map);
  const auto* inner = root<ia::Map>(outer->input);
  if (inner == nullptr) return Rewrite::no("its input is not a map");
  const ia::Branch* last = only_branch(*outer);
  if (last == nullptr || inner->branches.size() != 1)
    return Rewrite::no(
        "one of the maps returns several tuples per input, or the outer one cuts them");
  const ia::Branch& first = inner->branches.front();
  return rewritten(plan, [&] {
    const ia::Branch both{composed(last->keys, first.keys), first.cut,
                          chained(first.arrays, last->arrays)};
    return ia::make(ia::Map{inner->input, {both}}, plan.logical());
  });
}

/// R1-7. A join can go on with its tiles and rename its keys.
///   Map(h, f) . Join(g) (R, S)  ==  Join(f . g, h) (R, S)
Rewrite map_into_join(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  if (map == nullptr) return Rewrite::no(not_a_map);
  const auto* join = root<ia::Join>(map->input);
  if (join == nullptr) return Rewrite::no("its input is not a join");
  const ia::Branch* branch = only_branch(*map);
  if (branch == nullptr)
    return Rewrite::no("the map returns several tuples per input, or cuts them");
  return rewritten(plan, [&] {
    ia::Join after = *join;
    after.projection = chained(join->projection, branch->arrays);
    after.keys = composed(branch->keys, join->keys);
    return ia::make(after, plan.logical());
  });
}

/// R2-3. Maps commute with broadcasts, and with shuffles if the keys stay: the map first, where it
/// does not make more of its input.
///   Map(k, f) . Move (R)  ==  Move . Map(k, f) (R)
Rewrite map_before_move(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  if (map == nullptr) return Rewrite::no(not_a_map);
  if (!is_move(map->input)) return Rewrite::no("its input is not a move");
  if (!commutes(*map, map->input)) return Rewrite::no(shuffles_other_keys);
  if (floats_in(plan) > floats_in(map->input))
    return Rewrite::no("the map increases the data to move");
  const ia::Plan source = inputs_of(operator_of(map->input)).front();
  return rewritten(plan, [&] {
    return moved_as(map->input, ia::make(ia::Map{source, map->branches}, plan.logical()));
  });
}

}  // namespace tessera::optimizer
