#pragma once

#include "calculus/array.h"

namespace tessera::query {

/// The square matrix that has a vector on its diagonal, and zeros elsewhere.
calculus::Array diagonal_matrix(const calculus::Array& vector);

}  // namespace tessera::query
