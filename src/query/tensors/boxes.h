#pragma once

#include <optional>

#include "kernel/form/index_form.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// A form that reads one box of one argument, or every step-th element of it: of the tiles that the
/// box touches. Nothing if the form is something else.
std::optional<Tensor> as_box(const TypedForm& form, const std::vector<Tensor>& arguments);

}  // namespace tessera::query
