#include "tile/parcel.h"

#include <optional>

#include "base/check.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const T* data, std::int64_t count) {
  return {reinterpret_cast<const std::byte*>(data), static_cast<std::size_t>(count) * sizeof(T)};
}

/// What must live until the pieces are sent.
struct Kept {
  std::vector<Tile> tiles;
  std::vector<std::vector<std::int64_t>> offsets;
};

}  // namespace

Parcel pack(const std::vector<Tile>& tiles) {
  auto kept = std::make_shared<Kept>();
  Parcel parcel;
  parcel.description.push_back(static_cast<std::int64_t>(tiles.size()));
  for (const Tile& given : tiles) {
    const Tile tile = given.is_sparse() ? given : given.contiguous();
    const auto width = static_cast<std::int64_t>(size_of(tile.dtype()));
    parcel.description.push_back(static_cast<std::int64_t>(tile.dtype()));
    parcel.description.push_back(tile.sparse_dims());
    parcel.description.push_back(tile.rank());
    for (std::int64_t extent : tile.shape()) parcel.description.push_back(extent);
    if (tile.is_sparse()) {
      // Offsets of a view start above zero: they are sent as if they did not.
      const std::int64_t* from = tile.offsets();
      const std::int64_t first = from[0], entries = from[tile.rows()] - first;
      std::vector<std::int64_t>& offsets = kept->offsets.emplace_back(from, from + tile.rows() + 1);
      for (std::int64_t& offset : offsets) offset -= first;
      parcel.pieces.push_back(bytes_of(offsets.data(), tile.rows() + 1));
      parcel.pieces.push_back(bytes_of(tile.coordinates() + first, entries));
      if (tile.dtype() != DType::boolean)
        parcel.pieces.push_back(bytes_of(tile.bytes_begin() + first * width, entries * width));
    } else {
      parcel.pieces.push_back(bytes_of(tile.bytes_begin(), tile.elements() * width));
    }
    kept->tiles.push_back(tile);
  }
  parcel.keeps = kept;
  return parcel;
}

struct Unpacking::Part {
  TileType type;
  std::optional<MutableTile> dense = {};
  std::shared_ptr<SparseStorage> sparse = {};
};

Unpacking::Unpacking(std::span<const std::int64_t> description,
                     const std::vector<std::int64_t>& sizes) {
  std::size_t next = 0, piece = 0;
  const std::int64_t count = description[next++];
  for (std::int64_t i = 0; i < count; ++i) {
    Part part;
    part.type.dtype = static_cast<DType>(description[next++]);
    part.type.sparse_dims = static_cast<int>(description[next++]);
    const std::int64_t rank = description[next++];
    for (std::int64_t d = 0; d < rank; ++d) part.type.shape.push_back(description[next++]);
    if (part.type.sparse_dims > 0) {
      part.sparse = std::make_shared<SparseStorage>();
      part.sparse->offsets.resize(static_cast<std::size_t>(sizes[piece++]) / 8);
      part.sparse->coordinates.resize(static_cast<std::size_t>(sizes[piece++]) / 8);
      if (part.type.dtype != DType::boolean)
        part.sparse->values.resize(static_cast<std::size_t>(sizes[piece++]));
    } else {
      part.dense = MutableTile::uninitialized(part.type.dtype, part.type.shape);
      ++piece;
    }
    parts_.push_back(std::move(part));
  }
}

Unpacking::~Unpacking() = default;
Unpacking::Unpacking(Unpacking&&) noexcept = default;

std::vector<std::span<std::byte>> Unpacking::memory() {
  std::vector<std::span<std::byte>> result;
  for (Part& part : parts_) {
    if (part.dense) {
      result.emplace_back(
          part.dense->bytes_begin(),
          static_cast<std::size_t>(part.dense->elements()) * size_of(part.type.dtype));
      continue;
    }
    result.push_back(std::as_writable_bytes(
        std::span(part.sparse->offsets.data(), part.sparse->offsets.size())));
    result.push_back(std::as_writable_bytes(
        std::span(part.sparse->coordinates.data(), part.sparse->coordinates.size())));
    if (part.type.dtype != DType::boolean)
      result.emplace_back(part.sparse->values.data(), part.sparse->values.size());
  }
  return result;
}

std::vector<Tile> Unpacking::tiles() && {
  std::vector<Tile> result;
  for (Part& part : parts_)
    result.push_back(part.dense ? std::move(*part.dense).publish()
                                : publish_sparse(part.type, std::move(part.sparse)));
  return result;
}

}  // namespace tessera
