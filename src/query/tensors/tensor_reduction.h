#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// Sums, extremes and the like over some dimensions, or over all if none is named; negative ones
/// count from the end. The kernel works inside the tiles, and what it yields is folded over them: a
/// mean is the sum over all tiles by the number of all elements.
bool is_reduction(const Kernel& kernel);
Tensor reduced(const Tensor& tensor, const KernelCall& kernel);

/// exp(a) over its sum along the last dimension, with the maximum of the whole row taken out,
/// however many tiles the row has.
Tensor softmax(const Tensor& tensor);

}  // namespace tessera::query
