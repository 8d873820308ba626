#pragma once

#include <climits>
#include <cstdint>
#include <type_traits>

namespace tessera {

/// What the elements of a dtype are computed in. i64 wraps, as only unsigned words may; a bool is
/// a byte that holds 0 or 1.
template <class T>
using Word =
    std::conditional_t<std::is_same_v<T, bool>, std::uint8_t,
                       std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>>;

/// Products of bools are taken in the semiring (or, and), all others in (+, *).
template <class W>
inline constexpr bool is_or_and = std::is_same_v<W, std::uint8_t>;

template <class W>
constexpr W multiply(W a, W b) {
  if constexpr (is_or_and<W>) {
    return static_cast<W>(a & b);
  } else {
    return a * b;
  }
}

template <class W>
constexpr W plus(W a, W b) {
  if constexpr (is_or_and<W>) {
    return static_cast<W>(a | b);
  } else {
    return a + b;
  }
}

/// sum + a * b
template <class W>
constexpr W multiply_add(W sum, W a, W b) {
  return plus(sum, multiply(a, b));
}

/// A matrix in strided memory; strides count elements and may be zero or negative.
template <class W>
struct MatrixView {
  const W* first = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  MatrixView transposed() const { return {first, columns, rows, column_stride, row_stride}; }
  const W& operator()(std::int64_t i, std::int64_t j) const {
    return first[i * row_stride + j * column_stride];
  }
};

enum class Update { overwrite, accumulate };

/// Puts a value where another may be; one that is overwritten is not looked at.
template <class W>
void put(W& place, W value, Update update) {
  place = update == Update::overwrite ? value : plus(place, value);
}

/// c = a b or c += a b, where c is row-major without gaps. `overwrite` never reads c.
/// It is cut into blocks, which several threads may compute: those of product_blocks, and smaller
/// ones where an extent is above what a BLAS can be told of.
template <class W>
void gemm(const MatrixView<W>& a, const MatrixView<W>& b, W* c, Update update,
          std::int64_t largest_extent = INT_MAX);

}  // namespace tessera
