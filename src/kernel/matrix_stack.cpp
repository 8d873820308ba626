#include "kernel/matrix_stack.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tessera {

MatrixStack::MatrixStack(const Shape& shape)
    : lead(shape.begin(), shape.end() - 2),
      count(lead.elements()),
      rows(shape[shape.size() - 2]),
      columns(shape.back()) {}

Shape MatrixStack::lead_and(std::initializer_list<std::int64_t> extents) const {
  Shape shape = lead;
  for (std::int64_t extent : extents) shape.push_back(extent);
  return shape;
}

std::string MatrixStack::name_of(std::int64_t matrix) const {
  std::string name = fmt::format("{}x{} matrix", rows, columns);
  if (lead.rank() == 0) return name;
  return fmt::format("{} {} of a stack {}", name, matrix, to_string(lead));
}

void require_matrix(const char* kernel, const TileType& type, std::int64_t largest) {
  TESSERA_REQUIRE(
      TypeError, type.shape.rank() >= 2,
      "{}: {} is not supported: it must be a matrix, or a stack of matrices; reshape it", kernel,
      to_string(type));
  const MatrixStack stack(type.shape);
  TESSERA_REQUIRE(TypeError,
                  std::max(stack.rows, stack.columns) <= INT32_MAX &&
                      std::min(stack.rows, stack.columns) <= largest,
                  "{}: {} is too large: LAPACK uses 32-bit sizes; use smaller tiles", kernel,
                  to_string(type));
}

void require_square(const char* kernel, const TileType& type, std::int64_t largest) {
  require_matrix(kernel, type, largest);
  const MatrixStack stack(type.shape);
  TESSERA_REQUIRE(TypeError, stack.rows == stack.columns,
                  "{}: {} is not supported: its matrices must be square; use qr or svd for others",
                  kernel, to_string(type));
}

void require_regular(const char* kernel, const MatrixStack& stack, std::int64_t matrix, int pivot) {
  TESSERA_REQUIRE(ValueError, pivot == 0,
                  "{}: the {} is singular (pivot {} is zero); add a multiple of the identity, "
                  "or use svd",
                  kernel, stack.name_of(matrix), pivot);
}

Tile swap_last_two(const Tile& tile) {
  std::vector<std::int64_t> axes(tile.rank());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::iter_swap(axes.end() - 2, axes.end() - 1);
  return tile.permute(axes);
}

MutableTile working_copy(const Tile& tile, DType dtype) {
  return tile.dtype() == dtype ? MutableTile::copy_of(tile) : MutableTile::take(tile.cast(dtype));
}

}  // namespace tessera
