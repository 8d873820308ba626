#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/formats/entries.h"
#include "store/formats/format.h"
#include "store/formats/sorted_runs.h"
#include "store/formats/tile_queue.h"

namespace tessera::store {

/// What becomes of two entries with the same coordinates. Of booleans, either is enough to be true.
enum class Duplicates { add, refuse };

/// The extents of tiles for a sparse tensor with so many entries: such that a tile holds some
/// hundred thousand of them, about 4 MB, if they lie evenly; near to a cube.
Shape chosen_sparse_tile(const Shape& shape, std::int64_t entries);

/// How many of the last dimensions of such a tile to compress: as few as possible, but the offsets
/// of the others must not take much more than the entries do.
int chosen_sparse_dims(const Shape& tile, const Shape& shape, std::int64_t entries);

struct SparseTensor {
  std::string file;         // for messages
  std::string suffix = "";  // of the tensor's name
  Shape shape;
  std::optional<Shape> tile = {};  // none: chosen
  DType dtype = DType::f64;
  std::int64_t entries = 0;  // that are expected
  Duplicates duplicates = Duplicates::add;
  bool dense = false;  // dense tiles, all of them
};

/// Sorts entries that come in any order into the tiles of a tensor.
class SparseTiles {
 public:
  SparseTiles(Receiver& into, const SparseTensor& tensor, const FormatOptions& options);

  /// Coordinates must be below the shape.
  void add(const Entries& entries);
  /// Hands out the tiles, and ends the tensor.
  void finish();

 private:
  template <class T>
  void hand_out(TileQueue& to);
  /// Calls `put(row, coordinate, value)` for the entries of a tile.
  template <class T, class Put>
  void take_tile(std::uint64_t tile, const Shape& shape, Put&& put);
  /// The value at the next position: all that there are, added up.
  template <class T>
  T take_value();
  /// A position within a whole tile as row and coordinate in one of this shape, at the edge.
  std::pair<std::int64_t, std::int64_t> split(std::uint64_t inside, const Shape& shape) const;
  Key key_of(std::uint64_t tile) const;
  Shape shape_of(const Key& key) const;
  std::string place_of(std::uint64_t position) const;  // as coordinates, for messages

  Receiver& into_;
  const SparseTensor tensor_;
  const bool beside_;  // whether there are other threads
  TileType tile_;
  int number_ = 0;
  Key grid_;
  std::uint64_t tile_elements_ = 1;
  SortedRuns runs_;
  SortedRuns::Pair pair_{};  // the next, if there are more
  bool more_ = false;
};

}  // namespace tessera::store
