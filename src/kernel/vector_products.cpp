#include "kernel/vector_products.h"

#include <algorithm>
#include <optional>

#include "base/stop.h"
#include "kernel/dot.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

constexpr const char* multiplying_elements = "elements were multiplied";

template <class W>
const W* elements(const Tile& tile) {
  return reinterpret_cast<const W*>(tile.bytes_begin());
}

template <class W>
SparseVector<W> sparse_row(const Tile& tile, std::int64_t row) {
  const std::int64_t begin = tile.offsets()[row];
  return {tile.coordinates() + begin, is_or_and<W> ? nullptr : elements<W>(tile) + begin,
          tile.offsets()[row + 1] - begin};
}

template <class W>
W dense_dense(const Tile& a, const Tile& b) {
  const Tile left = a.contiguous();
  const Tile right = b.contiguous();
  const std::int64_t count = left.elements();
  W sum{};
  gemm<W>({elements<W>(left), 1, count, count, 1}, {elements<W>(right), count, 1, 1, 1}, &sum,
          Update::overwrite);
  return sum;
}

template <class W>
W sparse_dense(const Tile& a, const Tile& b) {
  const Tile right = b.contiguous();
  const std::int64_t width = sparse_extent(a.type());
  W sum{};
  StopPoll poll(multiplying_elements);
  for (std::int64_t row = 0; row < a.rows(); ++row) {
    const DenseVector<W> beside{elements<W>(right) + row * width, 1};
    const SparseVector<W> own = sparse_row<W>(a, row);
    poll.passed(1 + own.count);
    sum = plus(sum, dot(own, beside));
  }
  return sum;
}

template <class W>
W sparse_sparse(const Tile& a, const Tile& b) {
  const Tile right = b.with_sparse_dims(a.sparse_dims());
  W sum{};
  StopPoll poll(multiplying_elements);
  for (std::int64_t row = 0; row < a.rows(); ++row) {
    const SparseVector<W> own = sparse_row<W>(a, row), other = sparse_row<W>(right, row);
    poll.passed(1 + own.count + other.count);
    sum = plus(sum, dot(own, other));
  }
  return sum;
}

/// The elements of a tile that count in a product, at increasing row-major positions: all of a
/// dense tile, the stored ones of a sparse tile, which lie in one row if all its dimensions are
/// compressed.
template <class W>
class Factors {
 public:
  explicit Factors(const Tile& tile)
      : tile_(tile.is_sparse() ? tile.with_sparse_dims(tile.rank()) : tile.contiguous()),
        count_(tile_.stored()) {
    if (tile_.is_sparse()) sparse_ = sparse_row<W>(tile_, 0);
  }

  std::int64_t count() const { return count_; }

  /// Calls f(position, value) for each. Two loops, because the one over all elements is to be
  /// vectorised.
  template <class F>
  void for_each(F&& f) const {
    if (sparse_) {
      for (std::int64_t i = 0; i < count_; ++i) f(sparse_->coordinates[i], sparse_->value(i));
    } else {
      const W* values = elements<W>(tile_);
      for (std::int64_t i = 0; i < count_; ++i) f(i, values[i]);
    }
  }

 private:
  Tile tile_;
  std::int64_t count_;
  std::optional<SparseVector<W>> sparse_;
};

template <class W>
void outer_into(W* out, const Tile& a, const Tile& b, Update update) {
  const Factors<W> right(b);
  StopPoll poll(multiplying_elements);
  Factors<W>(a).for_each([&](std::int64_t i, W x) {
    W* row = out + i * b.elements();
    poll.passed(1 + right.count());
    right.for_each([&](std::int64_t j, W y) { put(row[j], multiply(x, y), update); });
  });
}

template <class T>
Tile sparse_outer(const Tile& a, const Tile& b) {
  using W = Word<T>;
  const SparseVector<W> left = sparse_row<W>(a, 0);
  const SparseVector<W> right = sparse_row<W>(b, 0);
  SparseBuilder builder({a.dtype(), {a.elements(), b.elements()}, 2}, left.count * right.count);
  StopPoll poll(multiplying_elements);
  for (std::int64_t i = 0; i < left.count; ++i) {
    poll.passed(1 + 4 * right.count);
    const std::int64_t first = left.coordinates[i] * b.elements();
    for (std::int64_t j = 0; j < right.count; ++j)
      builder.add(0, first + right.coordinates[j],
                  static_cast<T>(multiply(left.value(i), right.value(j))));
  }
  return std::move(builder).publish();
}

}  // namespace

Tile inner_product(const Tile& a, const Tile& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const Tile left = a.cast(dtype);
  const Tile right = b.cast(dtype);
  return visit_dtype(dtype, [&]<class T>() {
    using W = Word<T>;
    const auto product = !left.is_sparse()   ? right.is_sparse() ? sparse_dense<W>(right, left)
                                                                 : dense_dense<W>(left, right)
                           : right.is_sparse() ? sparse_sparse<W>(left, right)
                                             : sparse_dense<W>(left, right);
    return Tile::scalar(static_cast<T>(product));
  });
}

bool is_outer_sparse(const TileType& a, const TileType& b) {
  return a.is_sparse() && b.is_sparse() && a.shape.rank() == 1 && b.shape.rank() == 1;
}

Tile outer_product(const Tile& a, const Tile& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const Tile left = a.cast(dtype);
  const Tile right = b.cast(dtype);
  return visit_dtype(dtype, [&]<class T>() {
    if (is_outer_sparse(a.type(), b.type())) return sparse_outer<T>(left, right);
    Shape shape = a.shape();
    for (const std::int64_t extent : b.shape()) shape.push_back(extent);
    MutableTile result = a.is_sparse() || b.is_sparse() ? MutableTile::zeros(dtype, shape)
                                                        : MutableTile::uninitialized(dtype, shape);
    outer_into(reinterpret_cast<Word<T>*>(result.bytes_begin()), left, right, Update::overwrite);
    return std::move(result).publish();
  });
}

void accumulate_outer_product(MutableTile& accumulator, const Tile& a, const Tile& b) {
  const DType dtype = accumulator.dtype();
  visit_dtype(dtype, [&]<class T>() {
    outer_into(reinterpret_cast<Word<T>*>(accumulator.bytes_begin()), a.cast(dtype), b.cast(dtype),
               Update::accumulate);
  });
}

}  // namespace tessera
