#include "query/tensors/tensor_reshape.h"

#include <algorithm>
#include <numeric>

#include "query/tensors/tensor_tiling.h"

namespace tessera::query {
namespace {

/// A shape as rows: its first dimension that has more than one element counts them.
struct RowRuns {
  int dimension = 0;
  std::int64_t each = 1;  // elements of a row

  explicit RowRuns(const Shape& shape) {
    while (dimension < shape.rank() && shape[dimension] == 1) ++dimension;
    for (int d = dimension + 1; d < shape.rank(); ++d) each *= shape[d];
  }
};

}  // namespace

Tensor reshaped(const Tensor& tensor, const Shape& shape) {
  const Shape& from = tensor.type.shape;
  const RowRuns before(from), after(shape);
  std::vector<std::int64_t> wanted(shape.begin(), shape.end());
  const auto all = static_cast<double>(from.elements());
  const std::int64_t common = std::gcd(before.each, after.each);
  const bool one_row = before.dimension == from.rank() || after.dimension == shape.rank();
  if (all == 0 || one_row ||
      static_cast<double>(before.each / common) * static_cast<double>(after.each) >= all)
    return applied_whole({tensor}, KernelCall("reshape", {{"shape", wanted}}), 0);
  // The fewest elements that are whole rows of both, as often as a tile has them.
  const std::int64_t least = before.each / common * after.each;
  const std::int64_t block = least * std::max<std::int64_t>(1, tensor.type.tile.elements() / least);
  Shape source = from, result = shape;
  source[before.dimension] = block / before.each;
  result[after.dimension] = block / after.each;
  wanted[static_cast<std::size_t>(after.dimension)] = -1;
  std::vector<KeyExpr> keys(shape.size(), 0);
  keys[static_cast<std::size_t>(after.dimension)] = key(before.dimension);
  const KernelCall kernel("reshape", {{"shape", wanted}});
  return tensor_of(with_keys(retiled(tensor, source).plan.transform(kernel), keys), shape, result);
}

}  // namespace tessera::query
