#pragma once

#include <functional>
#include <optional>

#include "calculus/array.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// The same array where what is read at an index and a constant, as in A[i + 1, j], is an array of
/// its own that is read at the index: so that a tile needs its neighbours, not the whole dimension.
/// `given` makes an array of a tensor. Nothing if there is no such read of several tiles, or if it
/// may be outside, which has to be an error.
std::optional<calculus::Definition> with_shifts_apart(
    const calculus::Definition& definition, const TypedForm& form,
    const std::vector<Tensor>& arguments,
    const std::function<calculus::Array(const Tensor&)>& given);

}  // namespace tessera::query
