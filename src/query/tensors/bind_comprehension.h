#pragma once

#include <functional>

#include "lang/sql/ast.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// What an expression over tensors means that is no variable of a comprehension.
using TensorMeant = std::function<Tensor(const sql::Expression&)>;

/// An array comprehension, or the fold of one, as a tensor.
Tensor bind_comprehension(const sql::Expression& expression, const TensorMeant& meant);

}  // namespace tessera::query
