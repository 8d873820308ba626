#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// The vector 0, 1, 2, ... in tiles, each made where it is needed.
Tensor positions(std::int64_t extent, std::int64_t tile);

}  // namespace tessera::query
