#pragma once

#include <algorithm>
#include <vector>

#include "store/formats/numbers.h"

namespace tessera::store {

/// Entries of a tensor, as they come: coordinates one entry after the other, and a value each.
struct Entries {
  explicit Entries(int of_rank = 2) : rank(of_rank) {}
  int rank;
  std::vector<std::int64_t> coordinates;
  Numbers values;

  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
  std::int64_t bytes() const { return size() * 8 * (rank + 1); }
  const std::int64_t* at(std::int64_t entry) const { return coordinates.data() + entry * rank; }
  /// Adds to a coordinate of all of them.
  void shift(int dimension, std::int64_t by) {
    if (by == 0) return;
    for (std::size_t i = dimension; i < coordinates.size(); i += rank) coordinates[i] += by;
  }
};

}  // namespace tessera::store
