#pragma once

#include "calculus/array.h"
#include "kernel/einsum_spec.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// A sum of products of one or two tensors, by the letters of their dimensions.
Tensor contraction(EinsumSpec spec, const std::vector<Tensor>& operands);

/// The matrix product by NumPy's rules: a vector counts as a row on the left and as a column on the
/// right, and dimensions before the last two are broadcast.
calculus::Array matrix_product(const calculus::Array& a, const calculus::Array& b);

}  // namespace tessera::query
