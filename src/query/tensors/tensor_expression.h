#pragma once

#include <functional>

#include "lang/sql/ast.h"
#include "query/tensors/fusion.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// The tensor of a name; an error of its own if there is none.
using TensorNamed = std::function<Tensor(const std::string& name)>;

/// What an expression over named tensors means, element by element: matrix products, transposes,
/// arithmetic and comparisons with broadcasting, kernels as functions, reductions and einsum. Types
/// are known, and everything that does not fit is refused with its place, before anything runs.
Tensor bind_tensor(const sql::Expression& expression, const TensorNamed& named,
                   double worth_compiling = usually_worth_compiling);

}  // namespace tessera::query
