#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// The square matrix that has a vector on its diagonal, and zeros elsewhere.
Tensor diagonal_matrix(const Tensor& vector);

}  // namespace tessera::query
