#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// A tile of more elements is not made where its arguments are smaller.
inline constexpr double large_tile = 4'194'304;
double elements(const Shape& shape);

/// The same tensor in tiles of other extents: cut, joined, or both, dimension by dimension.
Tensor retiled(const Tensor& tensor, const Shape& tile);
Tensor retiled(const Tensor& tensor, int dimension, std::int64_t extent);

}  // namespace tessera::query
