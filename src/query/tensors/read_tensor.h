#pragma once

#include "query/tensors/tensor.h"

// Tensors whose tiles can be read without computing anything: stored ones, results, and those that
// are made where they are needed.

namespace tessera::query {

/// One of the tiles; zeros where a sparse tensor has none.
Tile read_tile(const Tensor& tensor, const Key& key);
/// All of it as one tile.
Tile read_whole(const Tensor& tensor);
/// Whether zeros may be left out, be it inside of tiles or whole tiles.
bool is_sparse(const Tensor& tensor);
/// The type of the tensor as one tile.
TileType whole_type(const Tensor& tensor);

}  // namespace tessera::query
