#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "tessera/tile.h"

namespace tessera {

/// A tile of two or more dimensions as factorizations see it: a stack of matrices, which are its
/// last two dimensions. Each matrix is factorised on its own.
struct MatrixStack {
  explicit MatrixStack(const Shape& shape);

  Shape lead;  // the dimensions before the last two
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  /// The leading dimensions with others after them.
  Shape lead_and(std::initializer_list<std::int64_t> extents) const;
  /// How a message names one of the matrices: "3x3 matrix", "3x3 matrix 4 of a stack [2x5]".
  std::string name_of(std::int64_t matrix) const;
};

/// TypeError unless the type is a stack of matrices that LAPACK, which counts in 32 bits, can
/// take; `largest` bounds the smaller extent.
void require_matrix(const char* kernel, const TileType& type, std::int64_t largest = INT32_MAX);
void require_square(const char* kernel, const TileType& type, std::int64_t largest = INT32_MAX);
/// ValueError if an elimination broke down at a pivot, counted from 1; 0 if it did not.
void require_regular(const char* kernel, const MatrixStack& stack, std::int64_t matrix, int pivot);

/// Each matrix transposed, as a view.
Tile swap_last_two(const Tile& tile);
/// A row-major copy to be overwritten, in the dtype that LAPACK works in.
MutableTile working_copy(const Tile& tile, DType dtype);

/// Calls f.operator()<T>() with float for f32 and double for f64.
template <class F>
decltype(auto) visit_float(DType dtype, F&& f) {
  return dtype == DType::f32 ? std::forward<F>(f).template operator()<float>()
                             : std::forward<F>(f).template operator()<double>();
}

/// Calls f(i, its first element) for each matrix. An empty one has nothing to factorise.
template <class T, class F>
void for_each_matrix(const MatrixStack& stack, T* first, F&& f) {
  if (stack.rows == 0 || stack.columns == 0) return;
  for (std::int64_t i = 0; i < stack.count; ++i) f(i, first + i * stack.rows * stack.columns);
}

}  // namespace tessera
