#include "kernel/hypersparse_product.h"

#include <algorithm>
#include <cstring>

#include "kernel/gustavson.h"
#include "tile/buffer.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// The rows of a matrix that have entries, in order.
template <class W>
struct OccupiedRows {
  BufferVector<std::int64_t> rows;         // which they are
  BufferVector<std::int64_t> offsets;      // by their place among these
  BufferVector<std::int64_t> coordinates;  // of their entries
  BufferVector<W> values;

  void begin_row(std::int64_t row) {
    if (!rows.empty() && rows.back() == row) return;
    rows.push_back(row);
    offsets.push_back(std::ssize(coordinates));
  }
  SparseMatrix<W> view(std::int64_t columns) const {
    return {std::ssize(rows), columns, offsets.data(), coordinates.data(), values.data()};
  }
};

/// A matrix as one row of all its elements, whatever the split of its dimensions was: an entry's
/// coordinate is its row-major position.
Tile in_one_row(const Tile& tile, DType dtype, bool transposed) {
  Tile flat = tile.with_sparse_dims(tile.rank());
  if (transposed) flat = flat.transpose();
  return flat.dtype() == dtype ? flat : flat.cast(dtype);
}

/// Calls f(row, column, entry) for the entries of a matrix of so many columns, in order.
template <class F>
void for_each_entry(const Tile& flat, std::int64_t columns, F&& f) {
  for (std::int64_t e = flat.offsets()[0]; e < flat.offsets()[1]; ++e)
    f(flat.coordinates()[e] / columns, flat.coordinates()[e] % columns, e);
}

template <class W>
OccupiedRows<W> occupied_rows(const Tile& flat, std::int64_t columns) {
  OccupiedRows<W> result;
  const auto* values = reinterpret_cast<const W*>(flat.bytes_begin());
  for_each_entry(flat, columns, [&](std::int64_t row, std::int64_t column, std::int64_t entry) {
    result.begin_row(row);
    result.coordinates.push_back(column);
    if constexpr (!is_or_and<W>) result.values.push_back(values[entry]);
  });
  result.offsets.push_back(std::ssize(result.coordinates));
  return result;
}

/// The same of a left operand, whose entries meet the rows of `right`, and are named by the places
/// of these. Those that meet an empty row contribute nothing.
template <class W>
OccupiedRows<W> meeting(const Tile& flat, std::int64_t columns, const OccupiedRows<W>& right) {
  OccupiedRows<W> result;
  const auto* values = reinterpret_cast<const W*>(flat.bytes_begin());
  for_each_entry(flat, columns, [&](std::int64_t row, std::int64_t column, std::int64_t entry) {
    const auto met = std::lower_bound(right.rows.begin(), right.rows.end(), column);
    if (met == right.rows.end() || *met != column) return;
    result.begin_row(row);
    result.coordinates.push_back(met - right.rows.begin());
    if constexpr (!is_or_and<W>) result.values.push_back(values[entry]);
  });
  result.offsets.push_back(std::ssize(result.coordinates));
  return result;
}

/// The rows of a product at their places in a tile of `type`, whose elements are those of a matrix
/// of so many columns in row-major order.
Tile spread(const Tile& product, const BufferVector<std::int64_t>& rows, std::int64_t columns,
            const TileType& type) {
  auto storage = std::make_shared<SparseStorage>();
  const std::int64_t width = std::max<std::int64_t>(sparse_extent(type), 1);
  const std::int64_t stored = product.stored();
  const std::size_t size = type.dtype == DType::boolean ? 0 : size_of(type.dtype);
  storage->offsets.assign(dense_extent(type) + 1, 0);
  storage->coordinates.resize(stored);
  storage->values.resize(stored * size);
  for (std::int64_t r = 0; r < product.rows(); ++r)
    for (std::int64_t e = product.offsets()[r]; e < product.offsets()[r + 1]; ++e) {
      const std::int64_t position = rows[r] * columns + product.coordinates()[e];
      ++storage->offsets[position / width + 1];
      storage->coordinates[e] = position % width;
    }
  if (stored * size > 0) std::memcpy(storage->values.data(), product.bytes_begin(), stored * size);
  for (std::size_t i = 1; i < storage->offsets.size(); ++i)
    storage->offsets[i] += storage->offsets[i - 1];
  return publish_sparse(type, std::move(storage));
}

/// How many rows the compressed rows of an operand would have that are not there yet.
double rows_to_add(const Tile& tile, bool is_right, bool transposed) {
  const auto& shape = tile.shape();
  if (tile.rank() == 1) return is_right ? static_cast<double>(shape[0]) : 1;
  double rows = tile.sparse_dims() == 1 ? 0 : static_cast<double>(shape[0]);
  if (transposed) rows += static_cast<double>(shape[1]);
  return rows;
}

}  // namespace

bool is_hypersparse_product(const Tile& a, const Tile& b, Transposed transposed) {
  constexpr double few = 4096;
  const double rows = rows_to_add(a, false, transposed.a) + rows_to_add(b, true, transposed.b);
  return rows > few && rows > 8 * static_cast<double>(a.stored() + b.stored());
}

template <class W>
Tile hypersparse_product(const Tile& a, const Tile& b, Transposed transposed,
                         const TileType& type) {
  const ProductShape shape = product_shape("matmul", a.type(), b.type(), transposed);
  const OccupiedRows<W> right = occupied_rows<W>(in_one_row(b, type.dtype, transposed.b), shape.n);
  const OccupiedRows<W> left = meeting<W>(in_one_row(a, type.dtype, transposed.a), shape.k, right);
  const TileType rows{type.dtype, {std::ssize(left.rows), shape.n}, 1};
  const Tile product = gustavson(left.view(std::ssize(right.rows)), right.view(shape.n), rows);
  return spread(product, left.rows, shape.n, type);
}

// NOLINTBEGIN(bugprone-macro-parentheses): W is a type
#define TESSERA_INSTANTIATE(W) \
  template Tile hypersparse_product<W>(const Tile&, const Tile&, Transposed, const TileType&);
TESSERA_FOR_WORKING_TYPES(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace tessera
