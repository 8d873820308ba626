#include "kernel/matrix_product.h"

#include <fmt/format.h>

#include <string>
#include <tuple>
#include <utility>

#include "base/odometer.h"
#include "kernel/gemm.h"
#include "kernel/gustavson.h"
#include "kernel/hypersparse_product.h"
#include "kernel/sparse_products.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

/// The extents of the last two dimensions, in the order they are read.
std::pair<std::int64_t, std::int64_t> matrix_extents(const Shape& shape, bool transposed) {
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t columns = shape.back();
  return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
}

Shape batch_extents(const Shape& shape) {
  return shape.rank() <= 2 ? Shape() : Shape(shape.begin(), shape.end() - 2);
}

Tile as_dtype(const Tile& tile, DType dtype) {
  return tile.dtype() == dtype ? tile : tile.cast(dtype);  // `cast` would copy a strided tile
}

/// How far apart the matrices of an operand lie along the dimensions of the batch: the given steps
/// along its own leading dimensions, which align at the last one, and 0 where it is broadcast.
Strides batch_steps(const Shape& shape, const Strides& steps, const Shape& batch) {
  Strides aligned(batch.size(), 0);
  const Shape own = batch_extents(shape);
  const std::size_t lead = batch.size() - own.size();
  for (std::size_t d = 0; d < own.size(); ++d) aligned[lead + d] = own[d] == 1 ? 0 : steps[d];
  return aligned;
}

std::int64_t offset_of(const Index& index, const Strides& steps) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * steps[d];
  return offset;
}

enum class Side { left, right };

/// The matrices of a dense operand.
template <class W>
class DenseOperand {
 public:
  DenseOperand(const Tile& tile, DType dtype, Side side, bool transposed, const Shape& batch)
      : tile_(as_dtype(tile, dtype)) {
    const Shape& shape = tile_.shape();
    const Strides& strides = tile_.strides();
    const auto* data = reinterpret_cast<const W*>(tile_.bytes_begin());
    if (shape.rank() == 1) {
      first_ = {data, 1, shape[0], shape[0], strides[0]};
      if (side == Side::right) first_ = first_.transposed();
    } else {
      const std::size_t row = shape.size() - 2;
      first_ = {data, shape[row], shape[row + 1], strides[row], strides[row + 1]};
      if (transposed) first_ = first_.transposed();
    }
    steps_ = batch_steps(shape, strides, batch);
  }

  MatrixView<W> at(const Index& index) const {
    MatrixView<W> matrix = first_;
    matrix.first += offset_of(index, steps_);
    return matrix;
  }

 private:
  Tile tile_;
  MatrixView<W> first_;
  Strides steps_;
};

/// A sparse matrix that may stand for its transpose.
template <class W>
struct SparseFactor {
  SparseMatrix<W> matrix;
  bool transposed;
};

/// The matrices of a sparse operand, whose rows follow each other in one array of offsets.
template <class W>
class SparseOperand {
 public:
  SparseOperand(const Tile& tile, DType dtype, Side side, bool transposed, const Shape& batch)
      : tile_(as_dtype(tile.with_sparse_dims(1), dtype)),
        first_{compressed_rows<W>(tile_), transposed} {
    const Shape& shape = tile_.shape();
    // A vector is stored as a row, of which a column is the transpose.
    if (shape.rank() == 1) {
      first_.transposed = side == Side::right;
    } else {
      first_.matrix.rows = shape[shape.size() - 2];
    }
    Strides steps(shape.size(), first_.matrix.rows);
    for (std::size_t d = batch_extents(shape).size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
    steps_ = batch_steps(shape, steps, batch);
  }

  SparseFactor<W> at(const Index& index) const {
    SparseFactor<W> factor = first_;
    factor.matrix.offsets += offset_of(index, steps_);
    return factor;
  }

 private:
  Tile tile_;
  SparseFactor<W> first_;
  Strides steps_;
};

/// Calls f with the matrix that the factor stands for.
template <class W, class F>
auto with_rows(const SparseFactor<W>& factor, F&& f) {
  return factor.transposed ? f(TransposedMatrix<W>(factor.matrix).view()) : f(factor.matrix);
}

template <class W>
void multiply_into(W* c, const MatrixView<W>& a, const MatrixView<W>& b, Update update) {
  gemm(a, b, c, update);
}
template <class W>
void multiply_into(W* c, const SparseFactor<W>& a, const MatrixView<W>& b, Update update) {
  sparse_times_dense(a.matrix, a.transposed, b, c, update);
}
template <class W>
void multiply_into(W* c, const MatrixView<W>& a, const SparseFactor<W>& b, Update update) {
  dense_times_sparse(a, b.matrix, b.transposed, c, update);
}
template <class W>
void multiply_into(W* c, const SparseFactor<W>& a, const SparseFactor<W>& b, Update update) {
  with_rows(a, [&](const SparseMatrix<W>& left) {
    with_rows(b, [&](const SparseMatrix<W>& right) { gustavson_dense(left, right, c, update); });
  });
}

template <template <class> class Left, template <class> class Right>
void multiply_batch(MutableTile& result, const Tile& a, const Tile& b, Transposed transposed,
                    Update update) {
  const ProductShape shape = product_shape("matmul", a.type(), b.type(), transposed);
  const DType dtype = result.dtype();
  visit_dtype(dtype, [&]<class T>() {
    using W = Word<T>;
    const Left<W> left(a, dtype, Side::left, transposed.a, shape.batch);
    const Right<W> right(b, dtype, Side::right, transposed.b, shape.batch);
    auto* c = reinterpret_cast<W*>(result.bytes_begin());
    Index index(shape.batch.size(), 0);
    for (std::int64_t t = shape.batch.elements(); t > 0; --t, c += shape.m * shape.n) {
      multiply_into(c, left.at(index), right.at(index), update);
      advance(index, shape.batch);
    }
  });
}

void multiply_dense(MutableTile& result, const Tile& a, const Tile& b, Transposed transposed,
                    Update update) {
  if (a.rank() <= 2 || b.rank() > 2 || transposed.a || !a.is_contiguous())
    return multiply_batch<DenseOperand, DenseOperand>(result, a, b, transposed, update);
  // All matrices on the left meet the same one on the right: their rows make one tall matrix.
  const std::int64_t columns = a.shape().back();
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < a.rank(); ++d) rows *= a.shape()[d];
  multiply_batch<DenseOperand, DenseOperand>(result, a.reshape({rows, columns}), b, transposed,
                                             update);
}

void multiply_into(MutableTile& result, const Tile& a, const Tile& b, Transposed transposed,
                   Update update) {
  if (a.is_sparse() && b.is_sparse()) {
    multiply_batch<SparseOperand, SparseOperand>(result, a, b, transposed, update);
  } else if (a.is_sparse()) {
    multiply_batch<SparseOperand, DenseOperand>(result, a, b, transposed, update);
  } else if (b.is_sparse()) {
    multiply_batch<DenseOperand, SparseOperand>(result, a, b, transposed, update);
  } else {
    multiply_dense(result, a, b, transposed, update);
  }
}

/// A matrix of one column in compressed rows as a sparse vector.
template <class T>
Tile as_vector(const Tile& column) {
  SparseBuilder builder({column.dtype(), {column.rows()}, 1}, column.stored());
  for (std::int64_t row = 0; row < column.rows(); ++row) {
    const std::int64_t entry = column.offsets()[row];
    if (entry == column.offsets()[row + 1]) continue;
    if constexpr (std::is_same_v<T, bool>) {
      builder.add(0, row, true);
    } else {
      builder.add(0, row, column.values<T>()[entry]);
    }
  }
  return std::move(builder).publish();
}

Tile multiply_sparse(const Tile& a, const Tile& b, Transposed transposed, const TileType& type) {
  return visit_dtype(type.dtype, [&]<class T>() {
    using W = Word<T>;
    if (is_hypersparse_product(a, b, transposed))
      return hypersparse_product<W>(a, b, transposed, type);
    const SparseOperand<W> left(a, type.dtype, Side::left, transposed.a, {});
    const SparseOperand<W> right(b, type.dtype, Side::right, transposed.b, {});
    return with_rows(left.at({}), [&](const SparseMatrix<W>& rows) {
      return with_rows(right.at({}), [&](const SparseMatrix<W>& columns) {
        if (b.rank() > 1 && type.sparse_dims == 1) return gustavson(rows, columns, type);
        if (b.rank() > 1)
          return gustavson(rows, columns, {type.dtype, type.shape, 1}).with_sparse_dims(2);
        return as_vector<T>(gustavson(rows, columns, {type.dtype, {rows.rows, 1}, 1}));
      });
    });
  });
}

}  // namespace

ProductShape product_shape(std::string_view kernel, const TileType& a, const TileType& b,
                           Transposed transposed) {
  // Tiles may be small and many: the words are put together only if they are needed.
  const auto refuse = [&](const std::string& why) {
    throw TypeError(fmt::format("{}: {}{} and {}{} cannot be multiplied: {}", kernel, to_string(a),
                                transposed.a ? " transposed" : "", to_string(b),
                                transposed.b ? " transposed" : "", why));
  };
  const int rank_a = a.shape.rank();
  const int rank_b = b.shape.rank();
  if (rank_a == 0 || rank_b == 0) refuse("a scalar has no rows or columns; use mul");
  if ((transposed.a && rank_a == 1) || (transposed.b && rank_b == 1))
    refuse("a vector cannot be transposed; remove the flag");
  ProductShape product;
  product.k = a.shape.back();
  std::int64_t column = b.shape.back();
  if (rank_a > 1) std::tie(product.m, product.k) = matrix_extents(a.shape, transposed.a);
  if (rank_b > 1) std::tie(column, product.n) = matrix_extents(b.shape, transposed.b);
  if (product.k != column)
    refuse(fmt::format("{} != {}; transpose one of them or change its shape", product.k, column));
  const Shape batch_a = batch_extents(a.shape);
  const Shape batch_b = batch_extents(b.shape);
  try {
    product.batch = broadcast_shapes(batch_a, batch_b);
  } catch (const TypeError&) {
    refuse(fmt::format(
        "the leading dimensions {} and {} cannot be broadcast together; they must be equal or 1",
        to_string(batch_a), to_string(batch_b)));
  }
  product.result = product.batch;
  if (rank_a > 1) product.result.push_back(product.m);
  if (rank_b > 1) product.result.push_back(product.n);
  return product;
}

TileType product_type(std::string_view kernel, const TileType& a, const TileType& b,
                      Transposed transposed) {
  const Shape shape = product_shape(kernel, a, b, transposed).result;
  const bool sparse = a.is_sparse() && b.is_sparse() && a.shape.rank() <= 2 &&
                      b.shape.rank() <= 2 && shape.rank() > 0;
  // As a has its rows: an offset for each, or none.
  const int sparse_dims = shape.rank() == 2 ? a.sparse_dims : 1;
  return {promote(a.dtype, b.dtype), shape, sparse ? sparse_dims : 0};
}

Tile matrix_product(const Tile& a, const Tile& b, Transposed transposed) {
  const TileType type = product_type("matmul", a.type(), b.type(), transposed);
  if (type.is_sparse()) return multiply_sparse(a, b, transposed, type);
  MutableTile result = MutableTile::uninitialized(type.dtype, type.shape);
  multiply_into(result, a, b, transposed, Update::overwrite);
  return std::move(result).publish();
}

void accumulate_matrix_product(MutableTile& accumulator, const Tile& a, const Tile& b,
                               Transposed transposed) {
  multiply_into(accumulator, a, b, transposed, Update::accumulate);
}

}  // namespace tessera
