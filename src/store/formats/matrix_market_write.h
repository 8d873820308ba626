#pragma once

#include "store/formats/format.h"

namespace tessera::store {

/// Sparse tensors are written as coordinates, dense ones as an array.
void write_matrix_market(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                         const FormatOptions& options);

}  // namespace tessera::store
