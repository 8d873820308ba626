#pragma once

#include <cstdint>
#include <string_view>

#include "tessera/tile.h"

namespace tessera {

/// Which operands are read with their last two dimensions swapped.
struct Transposed {
  bool a = false;
  bool b = false;
};

/// A product of matrices m x k and k x n for every index of `batch`, by NumPy's rules: leading
/// dimensions broadcast; a vector counts as a row on the left and as a column on the right, and has
/// no dimension in the result.
struct ProductShape {
  Shape batch;
  std::int64_t m = 1;
  std::int64_t k = 1;
  std::int64_t n = 1;
  Shape result;
};

/// TypeError that starts with the kernel's name and prints both types if they do not fit.
ProductShape product_shape(std::string_view kernel, const TileType& a, const TileType& b,
                           Transposed transposed);
/// The product of sparse operands without leading dimensions is sparse, with its rows compressed as
/// those of `a` are; every other one is dense.
TileType product_type(std::string_view kernel, const TileType& a, const TileType& b,
                      Transposed transposed);

/// The operands must fit.
Tile matrix_product(const Tile& a, const Tile& b, Transposed transposed);
void accumulate_matrix_product(MutableTile& accumulator, const Tile& a, const Tile& b,
                               Transposed transposed);

}  // namespace tessera
