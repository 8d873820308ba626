#pragma once

#include <string_view>

#include "calculus/array.h"
#include "kernel/einsum_spec.h"

namespace tessera::calculus {

/// What Einstein's notation writes: the fold of products, or of what else `combine` makes of two
/// factors, over the letters that the output lacks. Operands are broadcast as in NumPy. TypeError
/// if they do not fit.
Array einsum(const EinsumSpec& spec, std::vector<Array> operands, Monoid reduce,
             std::string_view combine);

/// What einsum means for these dtypes if nothing else is said: sums of products, for truth values
/// whether any conjunction holds.
Array einsum(const EinsumSpec& spec, std::vector<Array> operands);

}  // namespace tessera::calculus
