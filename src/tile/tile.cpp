#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "tile/convert.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"

namespace tessera {

Strides row_major_strides(const Shape& shape) {
  Strides strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<std::int64_t>(shape[i], 1);
  return strides;
}

bool is_row_major(const Shape& shape, const Strides& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

std::int64_t dense_extent(const TileType& type) {
  return Shape(type.shape.begin(), type.shape.end() - type.sparse_dims).elements();
}
std::int64_t sparse_extent(const TileType& type) {
  return Shape(type.shape.end() - type.sparse_dims, type.shape.end()).elements();
}

Tile::Tile() : Tile(zeros(DType::f64, {})) {}

template <class T>
requires is_element<T> Tile Tile::scalar(T value) {
  MutableTile tile = MutableTile::uninitialized(dtype_of<T>, {});
  *tile.data<T>() = value;
  return std::move(tile).publish();
}

template <class T>
requires is_element<T> Tile Tile::of(const Shape& shape, const std::vector<T>& row_major) {
  TESSERA_REQUIRE(TypeError, std::cmp_equal(row_major.size(), shape.elements()),
                  "a tile of shape {} needs {} values, not {}", to_string(shape), shape.elements(),
                  row_major.size());
  MutableTile tile = MutableTile::uninitialized(dtype_of<T>, shape);
  std::copy(row_major.begin(), row_major.end(), tile.data<T>());
  return std::move(tile).publish();
}

#define TESSERA_INSTANTIATE(T)                                    \
  template Tile Tile::scalar<T>(T);                               \
  template Tile Tile::of<T>(const Shape&, const std::vector<T>&); \
  template T Tile::at<T>(const Index&) const;
// The member templates are defined below; instantiated at the end of the file.

Tile Tile::zeros(DType dtype, const Shape& shape, int sparse_dims) {
  if (sparse_dims == 0) return MutableTile::zeros(dtype, shape).publish();
  return SparseBuilder({dtype, shape, sparse_dims}).publish();
}

Tile Tile::full(DType dtype, const Shape& shape, double value) {
  MutableTile tile = MutableTile::uninitialized(dtype, shape);
  visit_dtype(dtype,
              [&]<class T>() { std::fill_n(tile.data<T>(), tile.elements(), convert<T>(value)); });
  return std::move(tile).publish();
}

Tile Tile::wrap(DType dtype, const Shape& shape, const void* row_major,
                std::shared_ptr<const void> owner) {
  return wrap(dtype, shape, row_major_strides(shape), row_major, std::move(owner));
}

Tile Tile::wrap(DType dtype, const Shape& shape, const Strides& strides, const void* first,
                std::shared_ptr<const void> owner) {
  TESSERA_REQUIRE(TypeError, strides.size() == shape.size(), "shape {} needs {} strides, not {}",
                  to_string(shape), shape.size(), strides.size());
  auto rep = std::make_shared<Rep>();
  rep->type = {dtype, shape, 0};
  rep->elements = shape.elements();
  TESSERA_REQUIRE(TypeError, rep->elements == 0 || first != nullptr,
                  "a tile of shape {} needs data, but the pointer is null", to_string(shape));
  rep->strides = strides;
  rep->contiguous = is_row_major(shape, strides);
  rep->data = static_cast<const std::byte*>(first);
  rep->owner = std::move(owner);
  return Tile(std::move(rep));
}

Tile Tile::wrap_sparse(const TileType& type, const std::int64_t* offsets,
                       const std::int64_t* coordinates, const void* values,
                       std::shared_ptr<const void> owner) {
  TESSERA_REQUIRE(TypeError, type.sparse_dims >= 1 && type.sparse_dims <= type.shape.rank(),
                  "shape {} cannot have {} sparse dimensions", to_string(type.shape),
                  type.sparse_dims);
  TESSERA_REQUIRE(
      TypeError,
      (values == nullptr) == (type.dtype == DType::boolean) || type.dtype != DType::boolean,
      "a sparse bool tile has no values: every stored entry is true");
  auto rep = std::make_shared<Rep>();
  rep->type = type;
  rep->elements = type.shape.elements();
  rep->rows = dense_extent(type);
  rep->offsets = offsets;
  rep->coordinates = coordinates;
  rep->data = type.dtype == DType::boolean ? nullptr : static_cast<const std::byte*>(values);
  rep->owner = std::move(owner);

  const std::int64_t width = sparse_extent(type);
  TESSERA_REQUIRE(TypeError, offsets[0] >= 0, "sparse {}: offset 0 is negative: {}",
                  to_string(type), offsets[0]);
  for (std::int64_t row = 0; row < rep->rows; ++row) {
    TESSERA_REQUIRE(TypeError, offsets[row] <= offsets[row + 1],
                    "sparse {}: offset {} is {}, greater than the next offset {}", to_string(type),
                    row, offsets[row], offsets[row + 1]);
    for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      TESSERA_REQUIRE(TypeError, coordinates[i] >= 0 && coordinates[i] < width,
                      "sparse {}: coordinate {} of row {} is not in the range 0 to {}",
                      to_string(type), coordinates[i], row, width - 1);
      TESSERA_REQUIRE(TypeError, i == offsets[row] || coordinates[i - 1] < coordinates[i],
                      "sparse {}: coordinates {} and {} of row {} are not increasing",
                      to_string(type), coordinates[i - 1], coordinates[i], row);
    }
  }
  return Tile(std::move(rep));
}

Tile publish_sparse(const TileType& type, std::shared_ptr<SparseStorage> storage) {
  auto rep = std::make_shared<Tile::Rep>();
  rep->type = type;
  rep->elements = type.shape.elements();
  rep->rows = dense_extent(type);
  TESSERA_INVARIANT(std::cmp_equal(storage->offsets.size(), rep->rows + 1), "{} offsets for {}",
                    storage->offsets.size(), to_string(type));
  rep->offsets = storage->offsets.data();
  rep->coordinates = storage->coordinates.data();
  rep->data = type.dtype == DType::boolean ? nullptr : storage->values.data();
  rep->owner = std::move(storage);
  return Tile(std::move(rep));
}

DType Tile::dtype() const { return rep_->type.dtype; }
const Shape& Tile::shape() const { return rep_->type.shape; }
std::int64_t Tile::elements() const { return rep_->elements; }
int Tile::sparse_dims() const { return rep_->type.sparse_dims; }
std::int64_t Tile::stored() const {
  return is_sparse() ? rep_->offsets[rep_->rows] - rep_->offsets[0] : rep_->elements;
}
std::int64_t Tile::bytes() const {
  const auto element = static_cast<std::int64_t>(size_of(dtype()));
  if (!is_sparse()) return elements() * element;
  const auto index = static_cast<std::int64_t>(sizeof(std::int64_t));
  const std::int64_t entry = index + (dtype() == DType::boolean ? 0 : element);
  return (rep_->rows + 1) * index + stored() * entry;
}
const Strides& Tile::strides() const {
  TESSERA_REQUIRE(TypeError, !is_sparse(), "{} is sparse and has no strides", to_string(type()));
  return rep_->strides;
}
bool Tile::is_contiguous() const { return rep_->contiguous; }
const std::byte* Tile::bytes_begin() const { return rep_->data; }
std::int64_t Tile::rows() const { return rep_->rows; }
const std::int64_t* Tile::offsets() const { return rep_->offsets; }
const std::int64_t* Tile::coordinates() const { return rep_->coordinates; }

void Tile::require_dtype(DType asked) const {
  TESSERA_REQUIRE(TypeError, dtype() == asked, "the elements of {} cannot be read as {}",
                  to_string(type()), to_string(asked));
}

namespace {

constexpr std::int64_t not_stored = -1;

/// Where an element lies: an element count from the first (dense) or an entry (sparse).
std::int64_t locate(const Tile& tile, const Index& index) {
  const Shape& shape = tile.shape();
  TESSERA_REQUIRE(TypeError, index.size() == shape.size(),
                  "index {} does not have one number for each dimension of {}", to_string(index),
                  to_string(tile.type()));
  for (std::size_t i = 0; i < index.size(); ++i)
    TESSERA_REQUIRE(TypeError, index[i] >= 0 && index[i] < shape[i],
                    "index {} is out of bounds for {}", to_string(index), to_string(tile.type()));
  if (!tile.is_sparse())
    return std::inner_product(index.begin(), index.end(), tile.strides().begin(), std::int64_t{0});
  std::int64_t row = 0;
  std::int64_t coordinate = 0;
  for (int i = 0; i < tile.rank(); ++i) {
    std::int64_t& position = i < tile.dense_dims() ? row : coordinate;
    position = position * shape[i] + index[i];
  }
  const std::int64_t* begin = tile.coordinates() + tile.offsets()[row];
  const std::int64_t* end = tile.coordinates() + tile.offsets()[row + 1];
  const std::int64_t* found = std::lower_bound(begin, end, coordinate);
  return found != end && *found == coordinate ? found - tile.coordinates() : not_stored;
}

}  // namespace

bool Tile::is_stored(const Index& index) const {
  const std::int64_t place = locate(*this, index);
  return !is_sparse() || place != not_stored;
}

template <class T>
requires is_element<T> T Tile::at(const Index& index)
const {
  const std::int64_t place = locate(*this, index);
  if (is_sparse() && place == not_stored) return T{};
  if (is_sparse() && dtype() == DType::boolean) return convert<T>(true);
  return visit_dtype(dtype(), [&]<class S>() { return convert<T>(data<S>()[place]); });
}

TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::int64_t)
TESSERA_INSTANTIATE(bool)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
