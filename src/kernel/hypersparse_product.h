#pragma once

#include "kernel/matrix_product.h"

namespace tessera {

/// Whether operands of a sparse product have so few entries for their extents that an array with a
/// place for every row would cost more than the product itself.
bool is_hypersparse_product(const Tile& a, const Tile& b, Transposed transposed);

/// a b for sparse operands without leading dimensions, in memory and time that depend on their
/// entries alone, whatever their extents: rows without entries are left out, and come back when all
/// is done. The sums are those of `gustavson`, in the same order. `W` is how elements of the type
/// are computed with.
template <class W>
Tile hypersparse_product(const Tile& a, const Tile& b, Transposed transposed, const TileType& type);

}  // namespace tessera
