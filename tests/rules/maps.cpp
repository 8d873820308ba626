#include "optimizer/rules/distribution.h"
#include "rules/laws.h"
#include "tra/plan_node.h"

namespace tessera::optimizer {
namespace {

const char* const not_a_map = "it is not a map";

bool is_uniform(const ia::Plan& plan) { return plan.logical().node().uniform; }

}  // namespace

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
  const KernelCall& joins = *projection.front().kernel;
  Apply kernel = projection.front();
  const bool one_shape = is_uniform(join->left) && is_uniform(join->right) &&
                         left.front().type.shape == right.front().type.shape;
  for (const std::vector<Apply>& stage : stages) {
    if (!folds_after(stage, {joins}))
      return Rewrite::no("the map does not distribute over " + joins.to_string());
    const std::optional<KernelCall>& maps = stage.front().kernel;
    const bool elementwise =
        !maps || (maps->properties().elementwise && joins.properties().elementwise);
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
