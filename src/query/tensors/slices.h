#pragma once

#include <vector>

#include "calculus/array.h"
#include "lang/location.h"
#include "lang/sql/ast.h"

namespace tessera::query {

/// A[1, 2:9:3, ...]: NumPy's basic indexing, by constants.
calculus::Array indexed(const calculus::Array& array,
                        const std::vector<sql::ExpressionPtr>& indices, lang::Location location);

}  // namespace tessera::query
