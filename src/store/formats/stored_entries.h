#pragma once

#include <functional>

#include "base/stop.h"
#include "store/formats/format.h"

// The entries of stored tensors, as the writers of coordinates want them.

namespace tessera::store {

/// The number that coordinates begin with. TypeError unless it is 0 or 1.
std::int64_t index_base(const FormatOptions& options, std::int64_t usual);

/// Each tile that is there, sparse ones as they are and dense ones contiguous, with the coordinates
/// of its first element.
void for_each_entry_tile(const TensorReader& tensor,
                         const std::function<void(const Tile&, const Index& corner)>& visit);

/// Where in the tensor the tile at a key begins.
Index corner_of(const TensorReader& tensor, const Key& key);

/// Calls `visit(coordinates, entry)` for all stored entries of a tile, in order: `entry` counts
/// elements of a dense tile, values of a sparse one.
template <class Visit>
void for_each_entry(const Tile& tile, const Index& corner, Visit&& visit) {
  const int rank = tile.rank();
  const Shape& shape = tile.shape();
  const int dense_dims = tile.is_sparse() ? tile.dense_dims() : rank;
  StopPoll poll("entries were written");
  constexpr std::int64_t steps = 32;  // that an entry takes, about
  Index at = corner;
  const auto place = [&](std::int64_t linear, int first, int last) {
    for (int d = last; d-- > first;) {
      at[d] = corner[d] + linear % shape[d];
      linear /= shape[d];
    }
  };
  if (!tile.is_sparse()) {
    for (std::int64_t i = 0; i < tile.elements(); ++i) {
      poll.passed(steps);
      place(i, 0, rank);
      visit(at, i);
    }
    return;
  }
  for (std::int64_t row = 0; row < tile.rows(); ++row) {
    poll.passed(1);
    const std::int64_t begin = tile.offsets()[row], end = tile.offsets()[row + 1];
    if (begin == end) continue;
    place(row, 0, dense_dims);
    for (std::int64_t e = begin; e < end; ++e) {
      poll.passed(steps);
      place(tile.coordinates()[e], dense_dims, rank);
      visit(at, e);
    }
  }
}

}  // namespace tessera::store
