#pragma once

#include <vector>

#include "optimizer/rules/rule.h"

// The algorithms of distributed matrix multiplication (Yuan et al., section 5.2.2, and what lies
// between them). They hold for every join followed by an aggregation whose kernels are associative
// and commutative, with any moves between: Agg(g, +) . Join(*) (R, S).

namespace tessera::optimizer {

enum class Side { left, right };

/// When the products are folded.
enum class Folding {
  local_first,  // at each site, and what remains once more after a shuffle
  as_printed,   // after a shuffle of all products, as the paper prints it
};

/// BMM: one side goes everywhere, the other stays.
///   Agg(g, +) . SHUF_g . Join(*) (BCAST(R), S)
Rewrite broadcast_multiply(const ia::Plan& plan, Side side, Folding folding = Folding::local_first);

/// CMM: both sides are cut along the joined components, so that every site has some of the
/// summands of the whole result.
///   Agg(g, +) . SHUF_g . Join(*) (SHUF_l(R), SHUF_r(S))
Rewrite cross_product_multiply(const ia::Plan& plan, Folding folding = Folding::local_first);

/// RMM: each side is copied along the components of the other, and the copies are shuffled to
/// where the result is to be.
///   Agg(g, +) . Join(*, on all components) (SHUF_g . Map(insertDim, duplicate) (R), ... (S))
Rewrite replicated_multiply(const ia::Plan& plan);

/// The general form. The sites are a grid with an axis for each component of the join's key, of
/// the given extents. A side is split along the axes of its own components and copied along the
/// others. Where components that are summed over have an axis, the summands go to an owner among
/// the sites that hold them, the same number of tuples to each.
Rewrite grid_multiply(const ia::Plan& plan, const std::vector<int>& extents);

/// 2.5D: a grid of p x p x c, as square as possible, where c copies of each side work on parts of
/// the sum. c = 1 is the two-dimensional algorithm.
Rewrite two_and_a_half_d(const ia::Plan& plan, int replication);

/// The same with a replication that suits the number of sites: its cube root, but at least 2.
Rewrite two_and_a_half_d(const ia::Plan& plan);

}  // namespace tessera::optimizer
