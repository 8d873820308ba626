#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "optimizer/join_of_copies.h"
#include "rules/multiplication.h"

// What the multiplications are made of: a sum of products found in a plan, and put together again.

namespace tessera::optimizer {

/// Agg(g, +, finish) . Join(*) (R, S), moves and local sums on the way left aside.
struct Product {
  ia::Plan plan;                    // the aggregation, which is whole
  ia::Plan joined;                  // the join as it was
  ia::Join join;                    // with sides that are not moved
  std::vector<int> group_by;        // components of the join's key
  std::vector<KernelCall> kernels;  // associative and commutative
  ia::Pipeline finish;

  bool is_kept(int component) const {
    return std::find(group_by.begin(), group_by.end(), component) != group_by.end();
  }
};
std::optional<Product> product_of(const ia::Plan& plan);
inline const char* const not_a_product =
    "it is not an aggregation of a join with kernels known to be associative and commutative";

/// The products with the sides moved as they are in `join`.
ia::Plan joined(const Product& product, const ia::Join& join);
/// The sums of products that lie together.
ia::Plan whole(const Product& product, const ia::Plan& products);
/// The sums of products that lie anywhere.
ia::Plan folded(const Product& product, const ia::Plan& products, Folding folding);
/// The same, local first, with the given owners of the sums.
ia::Plan folded(const Product& product, const ia::Plan& products, const Placement& owners);

/// Where the sums go on a grid with these extents by component of the join's key: each to one of
/// the sites that hold summands of it, in turn.
Placement owners(const Product& product, const std::vector<int>& extents);

/// The extents of a grid of at most so many sites, as equal as they can be, none above its limit.
std::vector<int> near_square(int sites, const std::vector<std::int64_t>& limits);

}  // namespace tessera::optimizer
