#pragma once

#include "calculus/array.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// A tensor as an array that is given: one source more.
calculus::Array as_source(const Tensor& tensor, std::vector<Tensor>& sources);

/// The plan of an array over the tensors that are its sources: which tiles meet, what is computed
/// of those that do, and what is folded over tiles.
Tensor lowered(const calculus::Array& array, const std::vector<Tensor>& sources);

}  // namespace tessera::query
