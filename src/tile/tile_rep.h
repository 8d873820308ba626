#pragma once

#include <atomic>
#include <memory>

#include "tessera/tile.h"
#include "tile/buffer.h"

namespace tessera {

/// What a tile points to. For a dense tile `data` is the element at index 0 and `strides` count
/// elements; for a sparse one `data` are the values and `strides` is empty.
struct Tile::Rep {
  TileType type;
  std::int64_t elements = 0;
  std::int64_t rows = 0;  // sparse: how many dense indices
  Strides strides;
  bool contiguous = false;
  bool ours = false;  // allocated by MutableTile, so that its sole owner may write to it again
  const std::byte* data = nullptr;
  const std::int64_t* offsets = nullptr;
  const std::int64_t* coordinates = nullptr;
  std::shared_ptr<const void> owner;

  /// What hash_of has found, 0 if it was not asked. It is of this tile: views have others.
  struct KnownHash {
    std::atomic<std::uint64_t> value = 0;
    KnownHash() = default;
    KnownHash(const KnownHash&) {}  // NOLINT: on purpose
    KnownHash& operator=(const KnownHash&) { return *this; }
  };
  mutable KnownHash hash = {};
};

Strides row_major_strides(const Shape& shape);
bool is_row_major(const Shape& shape, const Strides& strides);

/// The three arrays of a sparse tile, ours to fill. `values` holds elements of the tile's dtype
/// as bytes and stays empty for boolean.
struct SparseStorage {
  BufferVector<std::int64_t> offsets;
  BufferVector<std::int64_t> coordinates;
  BufferVector<std::byte> values;

  template <class T>
  T* values_as() {
    return reinterpret_cast<T*>(values.data());
  }
};

/// The storage as a tile, without checking it against the layout's rules.
Tile publish_sparse(const TileType& type, std::shared_ptr<SparseStorage> storage);

/// The extents of the dense and of the sparse dimensions, multiplied.
std::int64_t dense_extent(const TileType& type);
std::int64_t sparse_extent(const TileType& type);

}  // namespace tessera
