#include "store/formats/dense_rows.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tessera::store {

TensorReader& only_tensor(const std::vector<TensorReader*>& tensors, const std::string& format) {
  TESSERA_REQUIRE(TypeError, tensors.size() == 1, "{} can hold only one tensor, not {}", format,
                  tensors.size());
  return *tensors[0];
}

const Shape& tensor_shape(const TensorReader& tensor, const std::string& format) {
  TESSERA_REQUIRE(
      TypeError, tensor.shape().has_value() && tensor.type().columns.size() == 1,
      "\"{}\" is a relation ({}), not a tensor cut into tiles, and cannot be written as {}",
      tensor.name(), to_string(tensor.type()), format);
  return *tensor.shape();
}

Shape matrix_shape(const TensorReader& tensor, const std::string& format) {
  const Shape& shape = tensor_shape(tensor, format);
  TESSERA_REQUIRE(TypeError, shape.rank() == 1 || shape.rank() == 2,
                  "\"{}\" has shape {}; {} holds only matrices and vectors", tensor.name(),
                  to_string(shape), format);
  return shape.rank() == 2 ? shape : Shape{shape[0], 1};
}

void check_matrix_tile(const Shape& tile, const std::string& file) {
  TESSERA_REQUIRE(
      TypeError, tile.rank() == 2 && tile[0] > 0 && tile[1] > 0,
      "{} is a matrix and cannot be cut into tiles of {}: two positive tile sizes are needed", file,
      to_string(tile));
}

void for_each_slab(const TensorReader& tensor, int axis, std::int64_t memory,
                   const std::function<void(const Tile&)>& slab) {
  const Shape shape = matrix_shape(tensor, "a file of rows");
  const Column& column = tensor.type().columns[0];
  const bool vector = tensor.shape()->rank() == 1;
  const std::int64_t length = shape[axis], across = shape[1 - axis];
  if (length == 0) return;
  const DType dtype = column.type.dtype;
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const Key& frontier = tensor.type().frontier;
  const std::int64_t bands = vector && axis == 1 ? 1 : frontier[axis];
  const std::int64_t crossing = vector ? (axis == 1 ? frontier[0] : 1) : frontier[1 - axis];
  const std::int64_t extent =
      vector && axis == 1 ? 1 : std::max<std::int64_t>(1, column.type.shape[axis]);
  // A row of a tile, and of the slab.
  if (column.type.is_sparse())
    tensor.require_room(2.0 * static_cast<double>(across) * static_cast<double>(size));
  const std::int64_t fitting =
      std::max<std::int64_t>(1, memory / 2 / std::max<std::int64_t>(1, across * size));
  const std::int64_t step = std::min(extent, fitting);

  for (std::int64_t band = 0; band < bands; ++band) {
    const std::int64_t height = std::min(extent, length - band * extent);
    for (std::int64_t begin = 0; begin < height; begin += step) {
      const std::int64_t rows = std::min(step, height - begin);
      MutableTile whole = MutableTile::uninitialized(dtype, {rows, across});
      std::int64_t at = 0;
      for (std::int64_t other = 0; other < crossing && at < across; ++other) {
        const Key key = vector      ? Key{axis == 1 ? other : band}
                        : axis == 0 ? Key{band, other}
                                    : Key{other, band};
        Tile tile = tensor.read(key);
        if (vector) tile = tile.reshape({tile.shape()[0], 1});
        Index from(2, 0);
        Index to = tile.shape();
        from[axis] = begin;
        to[axis] = begin + rows;
        tile = tile.slice(from, to);
        if (axis == 1) tile = tile.transpose();
        tile = tile.contiguous();
        const std::int64_t width = tile.shape()[1];
        for (std::int64_t row = 0; row < rows && width > 0; ++row)
          std::memcpy(whole.bytes_begin() + (row * across + at) * size,
                      tile.bytes_begin() + row * width * size, width * size);
        at += width;
      }
      slab(std::move(whole).publish());
    }
  }
}

std::vector<std::vector<Key>> rows_of_keys(const TensorReader& tensor) {
  std::vector<std::vector<Key>> rows;
  for (const Key& key : tensor.keys()) {
    if (rows.empty() || rows.back()[0][0] != key[0]) rows.emplace_back();
    rows.back().push_back(key);
  }
  return rows;
}

}  // namespace tessera::store
