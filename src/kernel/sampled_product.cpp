#include "kernel/sampled_product.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "base/stop.h"
#include "kernel/sparse_merge.h"
#include "kernel/sparse_products.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// Where to sample: the entries of a mask in compressed rows, counted from its first one.
struct Places {
  std::int64_t rows;
  const std::int64_t* offsets;
  const std::int64_t* columns;
};

/// A dense operand whose rows lie without gaps.
template <class W>
struct PackedRows {
  const W* first;
  std::int64_t stride;
  std::int64_t length;
  const W* begin(std::int64_t i) const { return first + i * stride; }
  DenseVector<W> row(std::int64_t i) const { return {begin(i), 1}; }
};

constexpr const char* sampling_products = "products were sampled";

/// How many elements a dot product with a row looks at, at most.
template <class W>
std::int64_t steps_of(const PackedRows<W>&, std::int64_t) {
  return 1;
}
template <class W>
std::int64_t steps_of(const SparseMatrix<W>& matrix, std::int64_t row) {
  return matrix.end(row) - matrix.begin(row);
}

/// The dot products of one row of a with `Count` rows of b. Together they hide the latency of the
/// additions and read the row of a once.
template <int Count, int VectorBytes, class W>
[[gnu::always_inline]] inline void dots(const W* a, const W* const* b, std::int64_t length,
                                        W* out) {
  constexpr std::int64_t lanes = VectorBytes / sizeof(W);
  typedef W Vector __attribute__((vector_size(VectorBytes)));  // NOLINT: `using` cannot
  Vector sums[Count] = {};
  std::int64_t k = 0;
  for (; k + lanes <= length; k += lanes) {
    Vector x;
    std::memcpy(&x, a + k, sizeof x);
#pragma GCC unroll 8
    for (int c = 0; c < Count; ++c) {
      Vector y;
      std::memcpy(&y, b[c] + k, sizeof y);
      if constexpr (is_or_and<W>) {
        sums[c] |= x & y;
      } else {
        sums[c] += x * y;
      }
    }
  }
  for (int c = 0; c < Count; ++c) {
    W sum = sums[c][0];
    for (std::int64_t lane = 1; lane < lanes; ++lane) sum = plus(sum, W{sums[c][lane]});
    for (std::int64_t rest = k; rest < length; ++rest) sum = multiply_add(sum, a[rest], b[c][rest]);
    out[c] = sum;
  }
}

template <int VectorBytes, class W>
[[gnu::always_inline]] inline void sample_dense(const Places& places, const PackedRows<W>& a,
                                                const PackedRows<W>& b, W* out) {
  constexpr int together = 8;
  StopPoll poll(sampling_products);
  for (std::int64_t i = 0; i < places.rows; ++i) {
    const W* row = a.begin(i);
    std::int64_t p = places.offsets[i];
    const std::int64_t end = places.offsets[i + 1];
    poll.passed(1);
    for (; p + together <= end; p += together, out += together) {
      poll.passed(a.length);
      const W* columns[together];
      for (int c = 0; c < together; ++c) columns[c] = b.begin(places.columns[p + c]);
      dots<together, VectorBytes>(row, columns, a.length, out);
    }
    for (; p < end; ++p, ++out) {
      poll.passed(a.length);
      const W* column = b.begin(places.columns[p]);
      dots<1, VectorBytes>(row, &column, a.length, out);
    }
  }
}

#ifdef __x86_64__
template <class W>
[[gnu::target("avx2,fma")]] void sample_dense_avx2(const Places& places, const PackedRows<W>& a,
                                                   const PackedRows<W>& b, W* out) {
  sample_dense<32>(places, a, b, out);
}
#endif

template <class W>
void sample(const Places& places, const PackedRows<W>& a, const PackedRows<W>& b, W* out) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return sample_dense_avx2(places, a, b, out);
#endif
  sample_dense<16>(places, a, b, out);
}

template <class W, class Left, class Right>
void sample(const Places& places, const Left& a, const Right& b, W* out) {
  StopPoll poll(sampling_products);
  for (std::int64_t i = 0; i < places.rows; ++i) {
    poll.passed(1);
    for (std::int64_t p = places.offsets[i]; p < places.offsets[i + 1]; ++p) {
      poll.passed(steps_of(a, i) + steps_of(b, places.columns[p]));
      *out++ = dot(a.row(i), b.row(places.columns[p]));
    }
  }
}

/// An operand by rows, in whichever layout it has. Both rows that a dot product takes must run
/// along the summed index, so the right operand is read across.
template <class W>
class Operand {
 public:
  Operand(const Tile& tile, DType dtype, bool across) {
    tile_ = tile.dtype() == dtype ? tile : tile.cast(dtype);
    if (tile_.is_sparse()) {
      tile_ = tile_.with_sparse_dims(1);
      sparse_ = compressed_rows<W>(tile_);
      if (across) sparse_ = transposed_.emplace(*sparse_).view();
    } else {
      if (across) tile_ = tile_.transpose();
      if (tile_.strides()[1] != 1) tile_ = tile_.contiguous();
      dense_ = {reinterpret_cast<const W*>(tile_.bytes_begin()), tile_.strides()[0],
                tile_.shape()[1]};
    }
  }

  template <class F>
  void visit(F&& f) const {
    sparse_ ? f(*sparse_) : f(dense_);
  }

 private:
  Tile tile_;
  PackedRows<W> dense_{};
  std::optional<SparseMatrix<W>> sparse_;
  std::optional<TransposedMatrix<W>> transposed_;
};

/// The dot products at the places of the mask, in their order.
Tile samples_at(const Tile& mask, const Tile& a, const Tile& b, bool transpose_b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const Tile rows = mask.with_sparse_dims(1);
  const Places places{rows.rows(), rows.offsets(), rows.coordinates()};
  MutableTile samples = MutableTile::uninitialized(dtype, {mask.stored()});
  visit_dtype(dtype, [&]<class T>() {
    using W = Word<T>;
    const Operand<W> left(a, dtype, false);
    const Operand<W> right(b, dtype, !transpose_b);
    auto* out = reinterpret_cast<W*>(samples.bytes_begin());
    left.visit(
        [&](const auto& x) { right.visit([&](const auto& y) { sample(places, x, y, out); }); });
  });
  return std::move(samples).publish();
}

/// A boolean tile stores no false: those samples drop out.
Tile true_places(const Tile& mask, const TileType& type, const bool* samples) {
  SparseBuilder builder(type, mask.stored());
  for (std::int64_t row = 0; row < mask.rows(); ++row)
    for (std::int64_t p = mask.offsets()[row]; p < mask.offsets()[row + 1]; ++p)
      builder.add(row, mask.coordinates()[p], *samples++);
  return std::move(builder).publish();
}

/// A tile with these values at the places of the mask.
template <class T>
Tile at_places(const Tile& mask, const TileType& type, const T* samples, const T* weights) {
  auto storage = std::make_shared<SparseStorage>();
  const std::int64_t* offsets = mask.offsets();
  const std::int64_t* coordinates = mask.coordinates();
  storage->offsets.resize(mask.rows() + 1);
  for (std::int64_t row = 0; row <= mask.rows(); ++row)
    storage->offsets[row] = offsets[row] - offsets[0];
  storage->coordinates.assign(coordinates + offsets[0], coordinates + offsets[mask.rows()]);
  storage->values.resize(mask.stored() * sizeof(T));
  T* values = storage->values_as<T>();
  for (std::int64_t p = 0; p < mask.stored(); ++p)
    values[p] = weights == nullptr
                    ? samples[p]
                    : static_cast<T>(multiply(Word<T>(samples[p]), Word<T>(weights[p])));
  return publish_sparse(type, std::move(storage));
}

}  // namespace

TileType sampled_product_type(const TileType& mask, const TileType& a, const TileType& b,
                              const Sampling& sampling) {
  const DType product = promote(a.dtype, b.dtype);
  return {sampling.use_mask_values ? promote(product, mask.dtype) : product, mask.shape,
          std::max(mask.sparse_dims, 1)};
}

Tile sampled_product(const Tile& mask, const Tile& a, const Tile& b, const Sampling& sampling) {
  const TileType type = sampled_product_type(mask.type(), a.type(), b.type(), sampling);
  const Tile sparse = mask.with_sparse_dims(type.sparse_dims);
  const Tile samples = samples_at(sparse, a, b, sampling.transpose_b).cast(type.dtype);
  const bool weighted = sampling.use_mask_values && mask.dtype() != DType::boolean;
  return visit_dtype(type.dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return true_places(sparse, type, samples.data<T>());
    } else {
      if (!weighted) return at_places<T>(sparse, type, samples.data<T>(), nullptr);
      const Tile weights = stored_values(sparse).cast(type.dtype);
      return at_places(sparse, type, samples.data<T>(), weights.data<T>());
    }
  });
}

}  // namespace tessera
