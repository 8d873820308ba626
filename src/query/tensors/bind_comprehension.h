#pragma once

#include <functional>

#include "calculus/array.h"
#include "lang/sql/ast.h"

namespace tessera::query {

/// What an expression over tensors means that is no variable of a comprehension.
using ArrayMeant = std::function<calculus::Array(const sql::Expression&)>;

/// An array comprehension, or the fold of one. How it is to be stored is not looked at.
calculus::Array bind_comprehension(const sql::Expression& expression, const ArrayMeant& meant);

}  // namespace tessera::query
