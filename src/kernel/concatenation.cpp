#include "kernel/concatenation.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/stop.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

// Seen along an axis, a row-major tile is a sequence of blocks, one for each index of the
// dimensions before the axis. A block of the result is the blocks of the parts, one after another.

std::int64_t block_elements(const Shape& shape, int axis) {
  return Shape(shape.begin() + axis, shape.end()).elements();
}

Shape result_shape(std::span<const Tile> parts, int axis, std::int64_t times) {
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Tile& part : parts) shape[axis] += part.shape()[axis];
  shape[axis] *= times;
  return shape;
}

/// A long stretch is copied in several, so that a stop is heard.
void copy(std::byte* to, const std::byte* from, std::size_t bytes, StopPoll& poll) {
  constexpr std::size_t longest = std::size_t{1} << 24;
  for (std::size_t done = 0; done < bytes; done += longest) {
    const std::size_t part = std::min(longest, bytes - done);
    std::memcpy(to + done, from + done, part);
    poll.passed(static_cast<std::int64_t>(part / 4));
  }
}

Tile concatenate_dense(std::span<const Tile> parts, int axis, std::int64_t times) {
  struct Source {
    Tile tile;  // keeps a contiguous copy alive
    const std::byte* next;
    std::size_t bytes;
  };
  const Shape shape = result_shape(parts, axis, times);
  const std::size_t element = size_of(parts[0].dtype());
  std::vector<Source> sources;
  for (const Tile& part : parts) {
    const Tile tile = part.contiguous();
    if (tile.elements() > 0)
      sources.push_back({tile, tile.bytes_begin(), block_elements(tile.shape(), axis) * element});
  }
  MutableTile result = MutableTile::uninitialized(parts[0].dtype(), shape);
  if (result.elements() == 0) return std::move(result).publish();
  std::byte* to = result.bytes_begin();
  const std::int64_t blocks = Shape(shape.begin(), shape.begin() + axis).elements();
  StopPoll poll("tiles were joined");
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (std::int64_t time = 0; time < times; ++time)
      for (const Source& source : sources) {
        copy(to, source.next, source.bytes, poll);
        to += source.bytes;
      }
    for (Source& source : sources) source.next += source.bytes;
  }
  return std::move(result).publish();
}

/// A sparse part as it is consumed: its entries in order, those of the block in hand in
/// [first, last).
class SparseSource {
 public:
  SparseSource(const Tile& tile, int axis)
      : tile_(tile), block_(block_elements(tile.shape(), axis)) {
    positions_.reserve(tile.stored());
    const std::int64_t width = sparse_extent(tile.type());
    for (std::int64_t row = 0; row < tile.rows(); ++row)
      for (std::int64_t e = tile.offsets()[row]; e < tile.offsets()[row + 1]; ++e)
        positions_.push_back(row * width + tile.coordinates()[e]);
  }

  std::int64_t block_elements_each() const { return block_; }
  bool done() const { return first == positions_.size(); }
  std::int64_t next_block() const { return positions_[first] / block_; }
  void open(std::int64_t block) {
    while (last < positions_.size() && positions_[last] / block_ == block) ++last;
  }
  void close() { first = last; }
  std::int64_t place_in_block(std::size_t i) const { return positions_[i] % block_; }
  const std::byte* value(std::size_t i, std::size_t size) const {
    return tile_.bytes_begin() + (tile_.offsets()[0] + static_cast<std::int64_t>(i)) * size;
  }

  std::size_t first = 0;
  std::size_t last = 0;

 private:
  const Tile& tile_;
  std::int64_t block_;
  std::vector<std::int64_t> positions_;  // linear and row-major, hence increasing
};

/// Only blocks with an entry are visited, in increasing order, so the entries come out sorted.
Tile concatenate_sparse(std::span<const Tile> parts, int axis, std::int64_t times) {
  const TileType type{parts[0].dtype(), result_shape(parts, axis, times), parts[0].sparse_dims()};
  const std::int64_t width = sparse_extent(type);
  const std::int64_t block_length = block_elements(type.shape, axis);
  const std::size_t size = type.dtype == DType::boolean ? 0 : size_of(type.dtype);

  std::vector<SparseSource> sources;
  std::int64_t stored = 0;
  for (const Tile& part : parts) {
    sources.emplace_back(part, axis);
    stored += part.stored() * times;
  }
  auto storage = std::make_shared<SparseStorage>();
  storage->offsets.assign(dense_extent(type) + 1, 0);
  storage->coordinates.reserve(stored);
  storage->values.resize(stored * size);
  std::byte* value = storage->values.data();

  StopPoll poll("tiles were joined");
  const auto emit_block = [&](std::int64_t block) {
    std::int64_t start = block * block_length;
    for (SparseSource& source : sources) source.open(block);
    for (std::int64_t time = 0; time < times; ++time)
      for (const SparseSource& source : sources) {
        poll.passed(1 + 4 * static_cast<std::int64_t>(source.last - source.first));
        for (std::size_t i = source.first; i < source.last; ++i) {
          const std::int64_t position = start + source.place_in_block(i);
          ++storage->offsets[position / width + 1];
          storage->coordinates.push_back(position % width);
          if (size > 0) std::memcpy(value, source.value(i, size), size);
          value += size;
        }
        start += source.block_elements_each();
      }
    for (SparseSource& source : sources) source.close();
  };
  while (stored > 0) {
    std::int64_t block = -1;
    for (const SparseSource& source : sources)
      if (!source.done() && (block < 0 || source.next_block() < block)) block = source.next_block();
    if (block < 0) break;
    emit_block(block);
  }
  for (std::int64_t row = 0; row < dense_extent(type); ++row)
    storage->offsets[row + 1] += storage->offsets[row];
  return publish_sparse(type, std::move(storage));
}

}  // namespace

Tile concatenate(std::span<const Tile> parts, int axis, std::int64_t times) {
  const bool sparse =
      std::all_of(parts.begin(), parts.end(), [](const Tile& part) { return part.is_sparse(); });
  return sparse ? concatenate_sparse(parts, axis, times) : concatenate_dense(parts, axis, times);
}

}  // namespace tessera
