#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/tile.h"

namespace tessera {

/// Rows of elements, `stride` elements apart, that have the indices `index`, `index` + 1, ...
struct Rows {
  std::int64_t count = 1;
  std::int64_t stride = 0;
  std::int64_t index = 0;
};

/// A reduction of one dtype, as the loops that a walk through a tile calls. A *cell* is one
/// element of the result under construction; its state takes in the elements that are reduced to
/// it, each with its index: its row-major position among the reduced dimensions.
struct Reducer {
  DType result = DType::f64;
  std::size_t state_bytes = 0;
  bool uses_index = false;  // whether it matters where an element stands
  void (*start)(std::byte* states, std::int64_t cells) = nullptr;
  /// A run of at least one element into one cell. The indices increase by 1 from `index`, and
  /// runs come in order of their indices.
  void (*add_run)(std::byte* state, const std::byte* first, std::int64_t stride, std::int64_t count,
                  std::int64_t index) = nullptr;
  /// Rows of elements, `stride` apart within a row: the i-th of each row into the i-th cell.
  void (*add_across)(std::byte* states, std::int64_t cells, const std::byte* first,
                     std::int64_t stride, const Rows& rows) = nullptr;
  /// Single elements in any order: values[i] of index indices[i] into cell cells[i].
  void (*add_entries)(std::byte* states, const std::int64_t* cells, const std::int64_t* indices,
                      const std::byte* values, std::int64_t count) = nullptr;
  /// The results, `reduced` elements having been given to each cell.
  void (*finish)(const std::byte* states, std::int64_t cells, std::int64_t reduced,
                 std::byte* results) = nullptr;
};

/// Reduces the given dimensions, in increasing order, of a dense or sparse tile. The result is
/// dense; it has the shape of the dimensions that stay.
Tile reduce(const Tile& tile, const std::vector<int>& axes, const Reducer& reducer);

}  // namespace tessera
