#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// cumsum and cumprod. The kernel works inside the tiles, and to each is added what those before it
/// come to.
bool is_scan(const Kernel& kernel);
Tensor scanned(const Tensor& tensor, const KernelCall& kernel);

}  // namespace tessera::query
