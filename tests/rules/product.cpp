#include "rules/product.h"

#include "ia/join_placement.h"
#include "rules/moving.h"

namespace tessera::optimizer {

std::optional<Product> product_of(const ia::Plan& plan) {
  const auto* last = root<ia::Aggregate>(plan);
  if (last == nullptr || !plan.pending().empty()) return std::nullopt;
  for (const KernelCall& kernel : last->kernels)
    if (!kernel.properties().associative || !kernel.properties().commutative) return std::nullopt;
  std::vector<int> group_by = last->group_by;
  ia::Plan input = without_moves(last->input);
  // Summands fold to the same whether or not they were folded in parts before.
  while (!input.pending().empty()) {
    const auto* part = root<ia::Aggregate>(input);
    if (part == nullptr) return std::nullopt;
    for (int& component : group_by) component = part->group_by[component];
    const ia::Plan next = without_moves(part->input);
    input = next;
  }
  const auto* join = root<ia::Join>(input);
  if (join == nullptr) return std::nullopt;
  Product product{plan, input, *join, group_by, last->kernels, last->finish};
  product.join.left = without_moves(join->left);
  product.join.right = without_moves(join->right);
  return product;
}

ia::Plan joined(const Product& product, const ia::Join& join) {
  return ia::make(join, product.joined.logical());
}

ia::Plan whole(const Product& product, const ia::Plan& products) {
  return ia::make(ia::Aggregate{products, product.group_by, product.kernels, product.finish},
                  product.plan.logical());
}

ia::Plan folded(const Product& product, const ia::Plan& products, Folding folding) {
  const int sites = products.sites();
  if (folding == Folding::as_printed)
    return whole(product, products.shuffle(
                              Placement::part(product.group_by, products.type().frontier, sites)));
  const std::vector<int> all = all_components(product.plan.type().arity());
  return folded(product, products, Placement::part(all, product.plan.type().frontier, sites));
}

ia::Plan folded(const Product& product, const ia::Plan& products, const Placement& owners) {
  const ia::Plan local = ia::make(ia::Aggregate{products, product.group_by, product.kernels},
                                  unfinished(product.plan));
  if (local.pending().empty()) return whole(product, products);
  return ia::make(ia::Aggregate{local.shuffle(owners), all_components(product.plan.type().arity()),
                                product.kernels, product.finish},
                  product.plan.logical());
}

Placement owners(const Product& product, const std::vector<int>& extents) {
  const Key& frontier = product.plan.type().frontier;
  std::vector<Axis> axes;
  int copies = 1;  // sites that hold summands of the same tuple
  for (std::size_t t = 0; t < extents.size(); ++t)
    if (!product.is_kept(static_cast<int>(t))) copies *= extents[t];
  // The tuples of a cell of the grid are counted in order of their keys and dealt out.
  Axis dealt{copies, Axis::Kind::split, {}};
  std::int64_t tuples = 1;
  for (std::size_t i = product.group_by.size(); i-- > 0;) {
    const int extent = extents[product.group_by[i]];
    const int component = static_cast<int>(i);
    axes.insert(axes.begin(), {extent, Axis::Kind::split, {{component, 1, 1}}});
    dealt.digits.insert(dealt.digits.begin(), {component, extent, tuples % copies});
    tuples = tuples % copies * (std::max<std::int64_t>(0, frontier[i] - 1) / extent + 1) % copies;
  }
  if (!dealt.digits.empty()) axes.push_back(dealt);
  return {axes, product.plan.sites()};
}

std::vector<int> near_square(int sites, const std::vector<std::int64_t>& limits) {
  std::vector<int> extents;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const auto fits = [&](int extent) {  // so many, to the power of the axes that are left
      std::int64_t used = 1;
      for (std::size_t axis = i; axis < limits.size() && used <= sites; ++axis) used *= extent;
      return used <= sites;
    };
    int extent = 1;
    while (extent < limits[i] && fits(extent + 1)) ++extent;
    extents.push_back(extent);
    sites /= extent;
  }
  return extents;
}

}  // namespace tessera::optimizer
