#pragma once

#include <string_view>
#include <vector>

#include "calculus/array.h"

namespace tessera::calculus {

// What expressions over whole arrays are made of. TypeError if the shapes do not fit.

/// A function of one number, element by element.
Array mapped(std::string_view function, const Array& array);
/// A function of two, of arrays that are broadcast by NumPy's rules.
Array elementwise(std::string_view function, const Array& a, const Array& b);
/// Of an array and a number, which takes the dtype of the array if that has fractions.
Array with_number(std::string_view function, const Array& array, const Scalar& number,
                  bool number_is_left);
Array converted(const Array& array, DType dtype);
/// For each dimension of the result, which of the array it is.
Array permuted(const Array& array, const std::vector<int>& axes);
Array transposed(const Array& array);  // reverses the dimensions
Array folded(Monoid monoid, const Array& array, const std::vector<int>& axes);

}  // namespace tessera::calculus
