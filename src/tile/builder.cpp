#include <cstring>

#include "tile/convert.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"

namespace tessera {

MutableTile MutableTile::uninitialized(DType dtype, const Shape& shape) {
  MutableTile tile;
  tile.dtype_ = dtype;
  tile.shape_ = shape;
  tile.elements_ = shape.elements();
  std::int64_t bytes = 0;
  const bool overflow =
      __builtin_mul_overflow(tile.elements_, static_cast<std::int64_t>(size_of(dtype)), &bytes);
  TESSERA_REQUIRE(OutOfMemory, !overflow,
                  "out of memory: a tile of {} does not fit into any memory",
                  to_string(TileType{dtype, shape}));
  try {
    std::shared_ptr<std::byte> buffer = allocate_buffer(static_cast<std::size_t>(bytes));
    tile.data_ = buffer.get();
    tile.owner_ = std::move(buffer);
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(fmt::format("out of memory: a tile of {} needs {} bytes: {}",
                                  to_string(TileType{dtype, shape}), bytes, error.what()));
  }
  return tile;
}

MutableTile MutableTile::zeros(DType dtype, const Shape& shape) {
  MutableTile tile = uninitialized(dtype, shape);
  std::memset(tile.data_, 0, tile.elements_ * size_of(dtype));
  return tile;
}

MutableTile MutableTile::copy_of(const Tile& source) {
  // contiguous() of a tile that is not yet so makes fresh storage, which nobody else holds.
  if (!source.is_contiguous()) return take(source.contiguous());
  MutableTile tile = uninitialized(source.dtype(), source.shape());
  if (tile.elements_ > 0)
    std::memcpy(tile.data_, source.bytes_begin(), tile.elements_ * size_of(tile.dtype_));
  return tile;
}

MutableTile MutableTile::take(Tile&& source) {
  const Tile::Rep& rep = source.rep();
  if (!rep.ours || !rep.contiguous || !source.is_unique() || rep.owner.use_count() != 1)
    return copy_of(source);
  // Readers in other threads that let go of the storage before us are done reading it: a count
  // that goes up and down again here comes after theirs went down.
  std::shared_ptr<const void>(rep.owner).reset();
  MutableTile tile;
  tile.dtype_ = rep.type.dtype;
  tile.shape_ = rep.type.shape;
  tile.elements_ = rep.elements;
  tile.data_ = const_cast<std::byte*>(rep.data);  // NOLINT: it was ours and is so again
  tile.owner_ = rep.owner;
  source = Tile(std::shared_ptr<const Tile::Rep>());
  return tile;
}

void MutableTile::require_dtype(DType asked) const {
  TESSERA_REQUIRE(TypeError, dtype_ == asked, "the elements of {} cannot be written as {}",
                  to_string(TileType{dtype_, shape_}), to_string(asked));
}

Tile MutableTile::publish() && {
  auto rep = std::make_shared<Tile::Rep>();
  rep->type = {dtype_, shape_, 0};
  rep->elements = elements_;
  rep->strides = row_major_strides(shape_);
  rep->contiguous = true;
  rep->ours = true;
  rep->data = data_;
  rep->owner = std::move(owner_);
  data_ = nullptr;
  elements_ = 0;
  return Tile(std::move(rep));
}

SparseBuilder::SparseBuilder(const TileType& type, std::int64_t expected_entries)
    : type_(type), storage_(std::make_shared<SparseStorage>()) {
  TESSERA_REQUIRE(TypeError, type.sparse_dims >= 1 && type.sparse_dims <= type.shape.rank(),
                  "shape {} cannot have {} sparse dimensions", to_string(type.shape),
                  type.sparse_dims);
  storage_->offsets.reserve(dense_extent(type) + 1);
  storage_->offsets.push_back(0);
  storage_->coordinates.reserve(expected_entries);
  if (type.dtype != DType::boolean)
    storage_->values.reserve(expected_entries * size_of(type.dtype));
}

template <class T>
requires is_element<T>
void SparseBuilder::add(std::int64_t row, std::int64_t coordinate, T value) {
  if (value == T{}) return;
  SparseStorage& storage = *storage_;
  TESSERA_INVARIANT(row >= last_row_, "row {} after {}", row, last_row_);
  for (; last_row_ < row; ++last_row_)
    storage.offsets.push_back(static_cast<std::int64_t>(storage.coordinates.size()));
  storage.coordinates.push_back(coordinate);
  if constexpr (!std::is_same_v<T, bool>) {
    const std::size_t end = storage.values.size();
    storage.values.resize(end + sizeof(T));
    std::memcpy(storage.values.data() + end, &value, sizeof(T));
  }
}

template void SparseBuilder::add<float>(std::int64_t, std::int64_t, float);
template void SparseBuilder::add<double>(std::int64_t, std::int64_t, double);
template void SparseBuilder::add<std::int64_t>(std::int64_t, std::int64_t, std::int64_t);
template void SparseBuilder::add<bool>(std::int64_t, std::int64_t, bool);

Tile SparseBuilder::publish() && {
  storage_->offsets.resize(dense_extent(type_) + 1,
                           static_cast<std::int64_t>(storage_->coordinates.size()));
  return publish_sparse(type_, std::move(storage_));
}

}  // namespace tessera
