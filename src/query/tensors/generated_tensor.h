#pragma once

#include <functional>

#include "query/tensors/tensor.h"

namespace tessera::query {

/// Writes elements that are neighbours along the last dimension, from a position in the whole
/// tensor on.
using FillRun = std::function<void(const Index& first, std::int64_t count, std::byte* elements)>;

/// A tensor whose elements follow from their positions. Each of its tiles is made where it is
/// needed, and nothing is stored. The name says what it is, and tells it apart from others.
Tensor generated_tensor(DType dtype, const Shape& shape, const std::string& name,
                        const FillRun& fill);

}  // namespace tessera::query
