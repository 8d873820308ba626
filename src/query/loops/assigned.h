#pragma once

#include "query/loops/chain.h"
#include "query/tensors/tensor_expression.h"

namespace tessera::query {

/// An array of a program between two steps.
struct LocalArray {
  std::optional<Shape> shape = {};    // none: that of what is assigned to it as a whole
  std::optional<DType> element = {};  // that was declared
  DType least = DType::boolean;       // of zeros: what it is at least
  std::optional<Tensor> value = {};   // none: all zeros
};

/// What an array is after an assignment to elements of it, in all iterations of the loops in the
/// chain at once: an array comprehension. `named`: what the arrays are before it.
LocalArray assigned(const LocalArray& before, const sql::Assignment& assignment, const Chain& chain,
                    const IndexFunctions& functions, const TensorNamed& named,
                    lang::Location location);

/// The value of an expression that is no element of anything: a number or a whole array.
Tensor value_of(const sql::Expression& expression, const Chain& chain, const TensorNamed& named);

/// An array as a tensor.
Tensor tensor_of(const LocalArray& array);

}  // namespace tessera::query
