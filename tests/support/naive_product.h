#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "support/expectations.h"
#include "support/special_values.h"
#include "tessera/tessera.h"
#include "tile/dispatch.h"

namespace tessera {

/// sum + a * b: wrapping for i64, or-and for bool.
template <class T>
T plus_product(T sum, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return sum || (a && b);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return static_cast<T>(static_cast<std::uint64_t>(sum) +
                          static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return sum + a * b;
  }
}

/// The product of two matrices by its definition; a pair of which one is not stored counts nothing.
inline Tile triple_loop(const Tile& a, const Tile& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const std::int64_t m = a.shape()[0];
  const std::int64_t n = b.shape()[1];
  MutableTile result = MutableTile::zeros(dtype, {m, n});
  visit_dtype(dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < a.shape()[1]; ++k)
          if (a.is_stored({i, k}) && b.is_stored({k, j})) {
            T& sum = result.data<T>()[i * n + j];
            sum = plus_product(sum, a.at<T>({i, k}), b.at<T>({k, j}));
          }
  });
  return std::move(result).publish();
}

struct Laid {
  std::string how;
  Tile tile;
};

/// The matrix in the middle of a larger one filled with ones.
inline Tile framed(const Tile& matrix) {
  const std::int64_t m = matrix.shape()[0];
  const std::int64_t n = matrix.shape()[1];
  MutableTile frame = MutableTile::copy_of(Tile::full(matrix.dtype(), {m + 3, n + 2}, 1));
  visit_dtype(matrix.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        frame.data<T>()[(i + 2) * (n + 2) + j + 1] = matrix.at<T>({i, j});
  });
  return std::move(frame).publish();
}

/// The rows of a matrix in reverse order, as a view that steps back.
inline Tile upside_down(const Tile& matrix) {
  return matrix.slice({matrix.shape()[0] - 1, 0}, {-1, matrix.shape()[1]}, {-1, 1});
}

/// The same matrix in every layout.
inline std::vector<Laid> layouts(const Tile& matrix) {
  const std::int64_t m = matrix.shape()[0];
  const std::int64_t n = matrix.shape()[1];
  const Tile inside = framed(matrix);
  return {{"row-major", matrix},
          {"column-major", matrix.transpose().contiguous().transpose()},
          {"with gaps", inside.slice({2, 1}, {m + 2, n + 1})},
          {"column-major with gaps",
           framed(matrix.transpose()).slice({2, 1}, {n + 2, m + 1}).transpose()},
          {"backwards", upside_down(upside_down(matrix).contiguous())},
          {"one sparse dimension", matrix.with_sparse_dims(1)},
          {"two sparse dimensions", matrix.with_sparse_dims(2)},
          {"rows of a larger sparse matrix",
           inside.slice({0, 1}, {m + 3, n + 1}).with_sparse_dims(1).slice({2, 0}, {m + 2, n})}};
}

inline Tile random_matrix(DType dtype, std::int64_t rows, std::int64_t columns,
                          std::uint64_t seed) {
  if (dtype == DType::boolean) return random_integers(dtype, {rows, columns}, seed, 0, 2);
  return random_integers(dtype, {rows, columns}, seed, -2, 3);
}

inline Tile added(const Tile& a, const Tile& b) { return KernelCall("add")({a, b}); }

}  // namespace tessera
