#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// Tensors of one dtype side by side along a dimension; the others are of one extent. A tile of the
/// result is made of those tiles of the parts that reach into it.
Tensor concatenated(const std::vector<Tensor>& parts, int axis);

/// A tensor with one more dimension, of extent 1.
Tensor expanded(const Tensor& tensor, int axis);

}  // namespace tessera::query
