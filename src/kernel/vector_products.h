#pragma once

#include "kernel/gemm.h"
#include "tessera/tile.h"

namespace tessera {

/// The sum of the elementwise products of two tiles of one shape, a scalar.
Tile inner_product(const Tile& a, const Tile& b);

/// Whether the products of all pairs of elements come as a sparse tile of two compressed
/// dimensions: only if both operands are sparse vectors. All others are dense.
bool is_outer_sparse(const TileType& a, const TileType& b);

/// The products of all pairs of elements: out[i.., j..] = a[i..] * b[j..].
Tile outer_product(const Tile& a, const Tile& b);
void accumulate_outer_product(MutableTile& accumulator, const Tile& a, const Tile& b);

}  // namespace tessera
