#pragma once

#include <vector>

#include "calculus/array.h"
#include "lang/location.h"
#include "lang/sql/ast.h"
#include "query/tensors/lower_array.h"

namespace tessera::query {

/// A[1, 2:9:3, ...]: NumPy's basic indexing, by constants.
calculus::Array indexed(const calculus::Array& array,
                        const std::vector<sql::ExpressionPtr>& indices, lang::Location location);

/// A form that reads one box of one argument; nothing if it is something else.
std::optional<Tensor> as_box(const TypedForm& form, const std::vector<Tensor>& arguments);

}  // namespace tessera::query
