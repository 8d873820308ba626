#pragma once

#include "tessera/tessera.h"

// The product of two matrices (Yuan et al., section 6.1).

namespace tasks {

struct ProductShape {
  std::int64_t m = 0, k = 0, n = 0;                    // A is m x k, B is k x n
  std::int64_t m_tiles = 1, k_tiles = 1, n_tiles = 1;  // in how many tiles each dimension is cut
};

/// The type of a matrix cut into equal tiles; extents are divisible by the numbers of tiles.
inline tessera::RelationType matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_tiles,
                                    std::int64_t column_tiles,
                                    tessera::DType dtype = tessera::DType::f64) {
  return {{{"", {dtype, {rows / row_tiles, columns / column_tiles}, 0}}},
          {row_tiles, column_tiles}};
}

/// C = A B: pairs of tiles that meet in the common dimension are multiplied, and added up.
inline tessera::Plan product(const tessera::Plan& a, const tessera::Plan& b) {
  return a.join(b, {1}, {0}, "matmul").aggregate({0, 2}, "add");
}

/// The same where the result has few tiles: each product is cut into pieces of `rows` rows before
/// they are added up, so that many sites can share that work. Keys are (i, j, piece).
inline tessera::Plan product_in_pieces(const tessera::Plan& a, const tessera::Plan& b,
                                       std::int64_t rows) {
  return a.join(b, {1}, {0}, "matmul").tile(0, rows).aggregate({0, 2, 3}, "add");
}

}  // namespace tasks
