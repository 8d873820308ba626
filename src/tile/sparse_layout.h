#pragma once

#include <vector>

#include "tessera/tile.h"

namespace tessera {

// Conversions and rearrangements of the sparse layout. All rest on one fact: the entries of a
// sparse tile lie in increasing order of their linear position, row * sparse_extent + coordinate,
// which is the row-major position of the element in the tile. So the number of sparse dimensions
// and the shape can change without reordering anything.

Tile densify(const Tile& sparse);
Tile sparsify(const Tile& dense, int sparse_dims);
/// The same entries at the same linear positions under another shape or split of the dimensions.
Tile regroup(const Tile& sparse, const Shape& shape, int sparse_dims);
Tile cast_sparse(const Tile& sparse, DType dtype);
Tile slice_sparse(const Tile& sparse, const Index& begin, const Strides& step, const Shape& sliced);
Tile permute_sparse(const Tile& sparse, const std::vector<std::int64_t>& axes,
                    const Shape& permuted);
Tile diagonal_sparse(const Tile& sparse);

}  // namespace tessera
