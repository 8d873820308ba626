#include <algorithm>

#include "ia/contents.h"
#include "optimizer/rules/distribution.h"
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

/// The numbers in the tiles of a relation, by the bound of their shapes.
double floats_in(const ia::Plan& plan) {
  const RelationType& type = plan.type();
  const bool filled =
      plan.logical().type().presence == Presence::sparse && type.presence != Presence::sparse;
  const std::int64_t tuples =
      filled ? count_below(type.frontier) : plan.logical().cardinality().tuples;
  return static_cast<double>(tuples) * ia::floats_of(type.columns);
}

bool is_uniform(const ia::Plan& plan) { return plan.logical().node().uniform; }

/// A map and a move may change places: after a BCAST every key is everywhere, but a SHUF places
/// tuples by keys that the map must not have changed.
bool commutes(const ia::Map& map, const ia::Plan& move) {
  return root<ia::Broadcast>(move) != nullptr || keeps_keys(map);
}
const char* const shuffles_other_keys = "the map changes the keys that the shuffle goes by";

}  // namespace

/// R1-2. Maps of one output each can be merged.
///   Map(h, f) . Map(k, g) (R)  ==  Map(h . k, f . g) (R)
/// The outer one may not cut: what is to be cut then is no longer there.
Rewrite merge_maps(const ia::Plan& plan) {
  const auto* outer = root<ia::Map>(plan);
  if (outer == nullptr) return Rewrite::no(not_a_map);
  const auto* inner = root<ia::Map>(outer->input);
  if (inner == nullptr) return Rewrite::no("it maps no map");
  const ia::Branch* last = only_branch(*outer);
  if (last == nullptr || inner->branches.size() != 1)
    return Rewrite::no("one of the maps makes several tuples of each, or the outer one cuts them");
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
  if (join == nullptr) return Rewrite::no("it maps no join");
  const ia::Branch* branch = only_branch(*map);
  if (branch == nullptr) return Rewrite::no("the map makes several tuples of each, or cuts them");
  return rewritten(plan, [&] {
    ia::Join after = *join;
    after.projection = chained(join->projection, branch->arrays);
    after.keys = composed(branch->keys, join->keys);
    return ia::make(after, plan.logical());
  });
}

/// R1-7, second form. A map that distributes over the join's kernel can be done on each side.
///   Map(id, f) . Join(g) (R, S)  ==  Join(g) (Map(id, f)(R), Map(id, f)(S))
///     if f(g(a, b)) = g(f(a), f(b))
/// The kernel claims that of tiles of one shape. Where one is broadcast to the other it holds if
/// both kernels go element by element; else all tiles must be of one shape.
Rewrite map_before_join(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  if (map == nullptr) return Rewrite::no(not_a_map);
  const auto* join = root<ia::Join>(map->input);
  if (join == nullptr) return Rewrite::no("it maps no join");
  if (!keeps_keys(*map)) return Rewrite::no("the map changes the keys");
  const std::vector<Column>& left = join->left.type().columns;
  const std::vector<Column>& right = join->right.type().columns;
  const std::vector<Apply>& projection = join->projection.front();
  const bool simple = join->projection.size() == 1 && projection.size() == 1 && left.size() == 1 &&
                      right.size() == 1 && projection.front().columns.size() == 2 &&
                      projection.front().columns[0] != projection.front().columns[1];
  if (!simple) return Rewrite::no("the join does more than one kernel of a left and a right tile");
  const ia::Pipeline& stages = map->branches.front().arrays;
  if (stages.empty()) return Rewrite::no("the map does nothing to the tiles");
  Apply kernel = projection.front();
  const bool one_shape = is_uniform(join->left) && is_uniform(join->right) &&
                         left.front().type.shape == right.front().type.shape;
  for (const std::vector<Apply>& stage : stages) {
    if (!folds_after(stage, {kernel.kernel}))
      return Rewrite::no("the map does not distribute over " + kernel.kernel.to_string());
    const bool elementwise =
        stage.front().kernel.properties().elementwise && kernel.kernel.properties().elementwise;
    if (!one_shape && !elementwise)
      return Rewrite::no("tiles of different shapes may join, and the map is not elementwise");
    kernel.names = stage.front().names;
  }
  return rewritten(plan, [&] {
    ia::Join after = *join;
    after.projection = {{kernel}};
    after.left = built(ia::Map{join->left, map->branches});
    after.right =
        join->left.is_same(join->right) ? after.left : built(ia::Map{join->right, map->branches});
    return built(after);
  });
}

/// R2-3. Maps commute with broadcasts, and with shuffles if the keys stay: the map first, where it
/// does not make more of its input.
///   Map(k, f) . Move (R)  ==  Move . Map(k, f) (R)
Rewrite map_before_move(const ia::Plan& plan) {
  const auto* map = root<ia::Map>(plan);
  if (map == nullptr) return Rewrite::no(not_a_map);
  if (!is_move(map->input)) return Rewrite::no("it maps no move");
  if (!commutes(*map, map->input)) return Rewrite::no(shuffles_other_keys);
  if (floats_in(plan) > floats_in(map->input)) return Rewrite::no("the map makes more to move");
  const ia::Plan source = inputs_of(operator_of(map->input)).front();
  return rewritten(plan, [&] {
    return moved_as(map->input, ia::make(ia::Map{source, map->branches}, plan.logical()));
  });
}

/// R2-3 from right to left: the move first, where the map makes more of its input.
///   Move . Map(k, f) (R)  ==  Map(k, f) . Move (R)
Rewrite map_after_move(const ia::Plan& plan) {
  if (!is_move(plan)) return Rewrite::no("it is not a move");
  const ia::Plan mapped = inputs_of(operator_of(plan)).front();
  const auto* map = root<ia::Map>(mapped);
  if (map == nullptr) return Rewrite::no("it moves no map");
  if (!commutes(*map, plan)) return Rewrite::no(shuffles_other_keys);
  if (floats_in(mapped) <= floats_in(map->input))
    return Rewrite::no("the map makes no more to move");
  return rewritten(plan, [&] {
    return ia::make(ia::Map{moved_as(plan, map->input), map->branches}, plan.logical());
  });
}

}  // namespace tessera::optimizer
