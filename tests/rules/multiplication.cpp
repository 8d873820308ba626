#include "rules/multiplication.h"

#include <algorithm>

#include "base/check.h"
#include "optimizer/join_of_copies.h"
#include "rules/joins.h"
#include "rules/moving.h"
#include "rules/product.h"

namespace tessera::optimizer {

Rewrite broadcast_multiply(const ia::Plan& plan, Side side, Folding folding) {
  const auto product = product_of(plan);
  if (!product) return Rewrite::no(not_a_product);
  return rewritten(plan, [&] {
    ia::Join join = product->join;
    ia::Plan& everywhere = side == Side::left ? join.left : join.right;
    everywhere = broadcast(everywhere);
    return folded(*product, joined(*product, join), folding);
  });
}

Rewrite cross_product_multiply(const ia::Plan& plan, Folding folding) {
  const auto product = product_of(plan);
  if (!product) return Rewrite::no(not_a_product);
  return rewritten(plan, [&] {
    ia::Join join = product->join;
    shuffle_on_joined(join);
    return folded(*product, joined(*product, join), folding);
  });
}

Rewrite replicated_multiply(const ia::Plan& plan) {
  const auto product = product_of(plan);
  if (!product) return Rewrite::no(not_a_product);
  const ia::Join& join = product->join;
  if (join.keys) return Rewrite::no("the join renames its key");
  for (const ia::Plan* side : {&join.left, &join.right})
    if (side->type().presence == Presence::sparse)
      return Rewrite::no("zeros that are left out would be copied");
  return rewritten(plan, [&] {
    const Placement to =
        Placement::part(product->group_by, product->joined.type().frontier, plan.sites());
    return whole(*product, built(join_of_copies(join, to)));
  });
}

Rewrite grid_multiply(const ia::Plan& plan, const std::vector<int>& extents) {
  const auto product = product_of(plan);
  if (!product) return Rewrite::no(not_a_product);
  if (product->join.keys) return Rewrite::no("the join renames its key");
  const int arity = product->joined.type().arity();
  if (std::ssize(extents) != arity)
    return Rewrite::no(fmt::format("a grid of {} axes for the {} components of the join's key",
                                   extents.size(), arity));
  return rewritten(plan, [&] {
    // Axes of the result first: those along which it is summed are then one next to the other.
    std::vector<int> order = product->group_by;
    for (int t = 0; t < arity; ++t)
      if (!product->is_kept(t)) order.push_back(t);
    const auto placed = [&](const std::vector<int>& own) {
      std::vector<Axis> axes;
      for (int t : order)
        axes.push_back(own[t] < 0 ? Axis{extents[t], Axis::Kind::copy, {}}
                                  : Axis{extents[t], Axis::Kind::split, {{own[t], 1, 1}}});
      return Placement(axes, plan.sites());
    };
    const Components components = components_of(product->join);
    ia::Join join = product->join;
    join.left = moved_to(placed(components.left), join.left);
    join.right = moved_to(placed(components.right), join.right);
    return folded(*product, joined(*product, join), owners(*product, extents));
  });
}

Rewrite two_and_a_half_d(const ia::Plan& plan, int replication) {
  const auto product = product_of(plan);
  if (!product) return Rewrite::no(not_a_product);
  const Key& frontier = product->joined.type().frontier;
  std::vector<int> extents(frontier.size(), 1);
  if (replication < 1 || replication > plan.sites())
    return Rewrite::no(fmt::format("{} copies on {} sites", replication, plan.sites()));
  if (replication > 1) {
    // The longest component that is summed over.
    int longest = -1;
    for (int t = 0; t < product->joined.type().arity(); ++t)
      if (!product->is_kept(t) && (longest < 0 || frontier[t] > frontier[longest])) longest = t;
    if (longest < 0 || frontier[longest] < replication)
      return Rewrite::no(fmt::format("there are no {} parts of the sum", replication));
    extents[longest] = replication;
  }
  std::vector<std::int64_t> kept;
  for (int t : product->group_by) kept.push_back(frontier[t]);
  const std::vector<int> square = near_square(plan.sites() / replication, kept);
  for (std::size_t i = 0; i < square.size(); ++i) extents[product->group_by[i]] = square[i];
  return grid_multiply(plan, extents);
}

Rewrite two_and_a_half_d(const ia::Plan& plan) {
  int replication = 2;
  while ((replication + 1) * (replication + 1) * (replication + 1) <= plan.sites()) ++replication;
  return two_and_a_half_d(plan, replication);
}

}  // namespace tessera::optimizer
