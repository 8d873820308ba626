#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// The `count` elements from position `first` on along one dimension, at most as many as it has;
/// zeros where the position is beyond its ends. Each tile is made of two neighbours.
Tensor moved(const Tensor& tensor, int dimension, std::int64_t first, std::int64_t count);

/// Every step-th element along one dimension, `count` of them, from the first on.
Tensor strided(const Tensor& tensor, int dimension, std::int64_t step, std::int64_t count);

}  // namespace tessera::query
