#pragma once

#include "tessera/tile.h"

namespace tessera {

// A sparse tile is a structure (which positions are stored) and values. Elementwise kernels take
// the two apart, work on the values as on any dense vector, and put them together again.

/// The values as a dense vector in the order of the entries.
Tile stored_values(const Tile& sparse);

/// The structure of one tile, whatever its values, with a dense vector of values of any dtype.
/// Number values of zero stay stored; of boolean ones, only what is true can be.
Tile with_values(const Tile& structure, const Tile& values);

/// The same without the entries whose value is zero.
Tile with_nonzero_values(const Tile& structure, const Tile& values);

/// The tile in another dtype. A sparse one keeps its structure, with the zeros that are stored:
/// against NaN and infinity a stored zero is not the same as nothing.
Tile converted(const Tile& tile, DType dtype);

/// The elements of a dense tile, broadcast to the structure's shape, at the stored positions.
Tile gather(const Tile& dense, const Tile& structure);

/// A boolean tile of the positions stored, as `sparse` stores them.
Tile structure_of(const Tile& sparse);

/// Two tiles brought to one structure: `left` and `right` are their values there, zero where a
/// tile does not store the position.
struct Aligned {
  Tile structure;
  Tile left;
  Tile right;
};

/// The positions that either of two tiles of equal dtype, shape and sparse dimensions stores.
Aligned align_union(const Tile& a, const Tile& b);
/// The positions that both store.
Aligned align_intersection(const Tile& a, const Tile& b);

}  // namespace tessera
