#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// The same tensor in tiles of other extents: cut, joined, or both, dimension by dimension.
Tensor retiled(const Tensor& tensor, const Shape& tile);
Tensor retiled(const Tensor& tensor, int dimension, std::int64_t extent);

}  // namespace tessera::query
