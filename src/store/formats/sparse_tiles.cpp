#include "store/formats/sparse_tiles.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/odometer.h"
#include "base/parallel.h"
#include "tile/dispatch.h"

namespace tessera::store {
namespace {

double volume(const Shape& shape) {
  double product = 1;
  for (const std::int64_t extent : shape)
    product *= static_cast<double>(std::max<std::int64_t>(1, extent));
  return product;
}

}  // namespace

Shape chosen_sparse_tile(const Shape& shape, std::int64_t entries) {
  constexpr double wanted = 1 << 18;  // entries in a tile
  const int rank = shape.rank();
  std::vector<int> ascending(rank);
  for (int d = 0; d < rank; ++d) ascending[d] = d;
  std::sort(ascending.begin(), ascending.end(), [&](int a, int b) { return shape[a] < shape[b]; });
  Shape tile(rank, 1);
  double left = volume(shape) * wanted / static_cast<double>(std::max<std::int64_t>(1, entries));
  for (int i = 0; i < rank; ++i) {
    const std::int64_t extent = std::max<std::int64_t>(1, shape[ascending[i]]);
    const double side = std::max(1.0, std::floor(std::pow(left, 1.0 / (rank - i)) + 1e-6));
    const std::int64_t pieces = side >= static_cast<double>(extent)
                                    ? 1
                                    : (extent - 1) / static_cast<std::int64_t>(side) + 1;
    tile[ascending[i]] = (extent - 1) / pieces + 1;
    left /= static_cast<double>(tile[ascending[i]]);
  }
  return tile;
}

int chosen_sparse_dims(const Shape& tile, const Shape& shape, std::int64_t entries) {
  const double all = std::max(1.0, volume(shape));
  const double held = static_cast<double>(entries) * std::min(1.0, volume(tile) / all);
  double rows = 1;
  int dense = 0;
  while (dense + 1 < tile.rank()) {
    rows *= static_cast<double>(tile[dense]);
    if (rows > 4 * held + (1 << 16)) break;
    ++dense;
  }
  return tile.rank() - dense;
}

SparseTiles::SparseTiles(Receiver& into, const SparseTensor& tensor, const FormatOptions& options)
    : into_(into),
      tensor_(tensor),
      beside_(thread_count(options.threads) > 1),
      runs_(options.memory / 2, beside_) {
  const Shape& shape = tensor.shape;
  tile_.dtype = tensor.dtype;
  const auto requested = tensor.tile ? tensor.tile : requested_tile(options, shape.rank());
  tile_.shape = requested.value_or(tensor.dense ? chosen_tile(tensor.dtype, shape)
                                                : chosen_sparse_tile(shape, tensor.entries));
  TESSERA_REQUIRE(
      TypeError, tile_.shape.rank() == shape.rank(),
      "{} has shape {} and cannot be cut into tiles of {}: the number of dimensions differs",
      tensor.file, to_string(shape), to_string(tile_.shape));
  double positions = 1;
  for (int d = 0; d < shape.rank(); ++d) {
    TESSERA_REQUIRE(TypeError, tile_.shape[d] > 0,
                    "{} cannot be cut into tiles of {}: tile sizes must be positive", tensor.file,
                    to_string(tile_.shape));
    tile_.shape[d] = std::min(tile_.shape[d], std::max<std::int64_t>(1, shape[d]));
    grid_.push_back(std::max<std::int64_t>(1, (shape[d] - 1) / tile_.shape[d] + 1));
    positions *= static_cast<double>(grid_[d]) * static_cast<double>(tile_.shape[d]);
  }
  TESSERA_REQUIRE(TypeError, positions < 0x1p63,
                  "{} has shape {}: tensors with more than 2^63 elements cannot be imported",
                  tensor.file, to_string(shape));
  tile_elements_ = static_cast<std::uint64_t>(tile_.shape.elements());
  tile_.sparse_dims = tensor.dense ? 0 : chosen_sparse_dims(tile_.shape, shape, tensor.entries);
  number_ =
      into.begin({tensor.suffix, tile_, tensor.dense ? Presence::continuous : Presence::sparse});
}

void SparseTiles::add(const Entries& entries) {
  const int rank = entries.rank;
  const bool real = is_float(tile_.dtype);
  for (std::int64_t i = 0; i < entries.size(); ++i) {
    const std::int64_t* at = entries.at(i);
    std::uint64_t tile = 0;
    std::uint64_t inside = 0;
    for (int d = 0; d < rank; ++d) {
      const std::int64_t extent = tile_.shape[d];
      const std::int64_t key = at[d] / extent;
      tile = tile * static_cast<std::uint64_t>(grid_[d]) + static_cast<std::uint64_t>(key);
      inside = inside * static_cast<std::uint64_t>(extent) +
               static_cast<std::uint64_t>(at[d] - key * extent);
    }
    std::uint64_t bits = 0;
    if (real)
      bits = std::bit_cast<std::uint64_t>(entries.values.real(i));
    else if (entries.values.are_real())
      bits = entries.values.real(i) != 0 ? 1 : 0;  // only booleans are made of reals
    else
      bits = static_cast<std::uint64_t>(entries.values.integer(i));
    runs_.add(tile * tile_elements_ + inside, bits);
  }
}

Key SparseTiles::key_of(std::uint64_t tile) const { return unraveled<Key>(tile, grid_); }

Shape SparseTiles::shape_of(const Key& key) const {
  Shape shape = tile_.shape;
  for (int d = 0; d < shape.rank(); ++d)
    shape[d] = std::min(shape[d], tensor_.shape[d] - key[d] * tile_.shape[d]);
  return shape;
}

std::string SparseTiles::place_of(std::uint64_t position) const {
  Key at = key_of(position / tile_elements_);
  const Index inside = unraveled<Index>(position % tile_elements_, tile_.shape);
  for (std::size_t d = 0; d < at.size(); ++d) at[d] = at[d] * tile_.shape[d] + inside[d];
  return to_string(at);
}

std::pair<std::int64_t, std::int64_t> SparseTiles::split(std::uint64_t inside,
                                                         const Shape& shape) const {
  const int rank = shape.rank();
  const int dense_dims = rank - tile_.sparse_dims;
  const Index index = unraveled<Index>(inside, tile_.shape);
  std::int64_t row = 0;
  std::int64_t coordinate = 0;
  for (int d = 0; d < dense_dims; ++d) row = row * shape[d] + index[d];
  for (int d = dense_dims; d < rank; ++d) coordinate = coordinate * shape[d] + index[d];
  return {row, coordinate};
}

template <class T>
T SparseTiles::take_value() {
  // Sums of floats are doubles until they are stored.
  using Sum = std::conditional_t<std::is_same_v<T, float>, double, T>;
  const auto value_of = [](std::uint64_t bits) -> Sum {
    if constexpr (std::is_same_v<Sum, double>)
      return std::bit_cast<double>(bits);
    else if constexpr (std::is_same_v<Sum, bool>)
      return bits != 0;
    else
      return static_cast<Sum>(bits);
  };
  const std::uint64_t position = pair_.position;
  Sum sum = value_of(pair_.value);
  while ((more_ = runs_.next(pair_)) && pair_.position == position) {
    TESSERA_REQUIRE(IoError, tensor_.duplicates == Duplicates::add,
                    "{}: duplicate value at index {} (counted from 0)", tensor_.file,
                    place_of(position));
    const Sum value = value_of(pair_.value);
    if constexpr (std::is_same_v<Sum, bool>) {
      sum = sum || value;
    } else if constexpr (std::is_same_v<Sum, double>) {
      sum += value;
    } else {
      TESSERA_REQUIRE(
          IoError, !__builtin_add_overflow(sum, value, &sum),
          "{}: the sum of the values at index {} (counted from 0) does not fit into i64",
          tensor_.file, place_of(position));
    }
  }
  return static_cast<T>(sum);
}

template <class T, class Put>
void SparseTiles::take_tile(std::uint64_t tile, const Shape& shape, Put&& put) {
  const std::uint64_t begin = tile * tile_elements_;
  // In a tile that is whole but for its first dimension, positions are those of the whole tile.
  const bool whole = std::equal(shape.begin() + 1, shape.end(), tile_.shape.begin() + 1);
  std::uint64_t columns = 1;
  for (int d = shape.rank() - tile_.sparse_dims; d < shape.rank(); ++d)
    columns *= static_cast<std::uint64_t>(shape[d]);
  std::uint64_t row = 0;
  std::uint64_t row_begin = 0;
  std::int64_t entries = 0;
  while (more_ && pair_.position - begin < tile_elements_) {
    const std::uint64_t inside = pair_.position - begin;
    const T value = take_value<T>();
    if (whole) {
      if (inside - row_begin >= columns) {
        row = inside / columns;
        row_begin = row * columns;
      }
      put(static_cast<std::int64_t>(row), static_cast<std::int64_t>(inside - row_begin), value);
    } else {
      const auto [at, coordinate] = split(inside, shape);
      put(at, coordinate, value);
    }
    if ((++entries & 0xffff) == 0) into_.advance(0, 0);
  }
}

template <class T>
void SparseTiles::hand_out(TileQueue& to) {
  const auto tiles = static_cast<std::uint64_t>(count_below(grid_));
  // Room for an eighth more than on the average, if they lie evenly.
  const std::int64_t expected = tensor_.entries / static_cast<std::int64_t>(tiles) * 9 / 8;
  for (std::uint64_t next = 0;; ++next) {
    const std::uint64_t tile = more_ ? pair_.position / tile_elements_ : tiles;
    if (!tensor_.dense) next = tile;
    if (next == tiles) break;
    const Key key = key_of(next);
    const Shape shape = shape_of(key);
    if (tensor_.dense) {
      MutableTile made = MutableTile::zeros(tile_.dtype, shape);
      if (next == tile)
        take_tile<T>(tile, shape, [to = made.data<T>()](std::int64_t row, std::int64_t, T value) {
          to[row] = value;
        });
      to.add(key, std::move(made).publish());
    } else {
      SparseBuilder builder({tile_.dtype, shape, tile_.sparse_dims}, expected);
      take_tile<T>(tile, shape, [&](std::int64_t row, std::int64_t coordinate, T value) {
        builder.add<T>(row, coordinate, value);
      });
      const Tile made = std::move(builder).publish();
      if (made.stored() > 0) to.add(key, made);
    }
  }
}

void SparseTiles::finish() {
  runs_.begin();
  more_ = runs_.next(pair_);
  TileQueue to(into_, number_, beside_);
  visit_dtype(tile_.dtype, [&]<class T>() { hand_out<T>(to); });
  to.finish();
  into_.end(number_, tensor_.shape);
}

}  // namespace tessera::store
