#include "support/memory_tensors.h"

#include <algorithm>

#include "base/check.h"

namespace tessera {

Tile Received::whole() const {
  const TileType type{head.tile.dtype, *shape, 0};
  std::vector<Tuple> tuples;
  MutableTile result = MutableTile::zeros(type.dtype, type.shape);
  const auto size = static_cast<std::int64_t>(size_of(type.dtype));
  for (const auto& [key, tile] : tiles) {
    const Tile dense = tile.contiguous();
    for (std::int64_t i = 0; i < dense.elements(); ++i) {
      std::int64_t rest = i;
      std::int64_t at = 0;
      std::int64_t stride = 1;
      for (int d = dense.rank(); d-- > 0;) {
        at += (key[d] * head.tile.shape[d] + rest % dense.shape()[d]) * stride;
        rest /= dense.shape()[d];
        stride *= type.shape[d];
      }
      std::copy_n(dense.bytes_begin() + i * size, size, result.bytes_begin() + at * size);
    }
  }
  return std::move(result).publish();
}

int MemoryReceiver::begin(const store::TensorHead& head) {
  const std::lock_guard lock(mutex_);
  for (const Received& other : tensors_)
    TESSERA_INVARIANT(other.head.suffix != head.suffix, "two tensors '{}'", head.suffix);
  tensors_.push_back({head, {}});
  return static_cast<int>(tensors_.size()) - 1;
}

void MemoryReceiver::add(int tensor, const Key& key, const Tile& tile) {
  const std::lock_guard lock(mutex_);
  Received& into = tensors_.at(tensor);
  TESSERA_INVARIANT(!into.ended, "a tile at {} after the end", to_string(key));
  TESSERA_INVARIANT(into.tiles.emplace(key, tile).second, "two tiles at {}", to_string(key));
}

void MemoryReceiver::end(int tensor, const std::optional<Shape>& shape) {
  const std::lock_guard lock(mutex_);
  Received& into = tensors_.at(tensor);
  into.ended = true;
  into.shape = shape;
  const TileType& bound = into.head.tile;
  Key grid;
  for (int d = 0; shape && d < shape->rank(); ++d) {
    const std::int64_t extent = (*shape)[d], size = std::max<std::int64_t>(1, bound.shape[d]);
    grid.push_back(std::max<std::int64_t>(1, extent / size + (extent % size != 0 ? 1 : 0)));
  }
  for (const auto& [key, tile] : into.tiles) {
    TileType expected = bound;
    if (!shape) {
      TESSERA_INVARIANT(tile.dtype() == bound.dtype && tile.rank() == bound.shape.rank(),
                        "{} at {}", to_string(tile.type()), to_string(key));
      continue;
    }
    TESSERA_INVARIANT(key.size() == grid.size(), "the key {}", to_string(key));
    for (std::size_t d = 0; d < grid.size(); ++d) {
      TESSERA_INVARIANT(key[d] >= 0 && key[d] < grid[d], "the key {} in a grid of {}",
                        to_string(key), to_string(grid));
      expected.shape[d] = std::min(bound.shape[d], (*shape)[d] - key[d] * bound.shape[d]);
    }
    TESSERA_INVARIANT(tile.type() == expected, "{} at {} instead of {}", to_string(tile.type()),
                      to_string(key), to_string(expected));
  }
  if (shape && into.head.presence == Presence::continuous)
    TESSERA_INVARIANT(std::cmp_equal(into.tiles.size(), count_below(grid)), "{} tiles in {}",
                      into.tiles.size(), to_string(grid));
}

void MemoryReceiver::advance(std::int64_t bytes, std::int64_t rows) {
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
  rows_ += rows;
  if (interrupt_after_rows >= 0 && rows_ > interrupt_after_rows)
    throw Interrupted("as it was told");
}

const Received& MemoryReceiver::tensor(const std::string& suffix) const {
  for (const Received& tensor : tensors_)
    if (tensor.head.suffix == suffix) {
      TESSERA_INVARIANT(tensor.ended, "'{}' has no end", suffix);
      return tensor;
    }
  throw InternalError("there is no tensor '" + suffix + "'");
}

std::vector<Key> MemoryReader::keys() const {
  std::vector<Key> keys;
  for (const Tuple& tuple : relation_.tuples()) keys.push_back(tuple.key);
  return keys;
}

}  // namespace tessera
