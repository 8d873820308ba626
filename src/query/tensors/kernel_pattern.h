#pragma once

#include <optional>

#include "kernel/form/index_form.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// A form that is one function of elements, broadcast by NumPy's rules, or folds one argument over
/// some of its dimensions: there is a kernel for that, for sparse tiles too. Nothing if the form is
/// something else.
std::optional<Tensor> by_kernel(const TypedForm& form, const std::vector<Tensor>& arguments);

}  // namespace tessera::query
