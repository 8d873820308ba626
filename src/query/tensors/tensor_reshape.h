#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// The elements in row-major order under another shape of as many. Where so many first rows of the
/// one are so many first rows of the other, that is done for such rows by themselves.
Tensor reshaped(const Tensor& tensor, const Shape& shape);

}  // namespace tessera::query
