#pragma once

#include <optional>

#include "kernel/einsum_spec.h"
#include "kernel/form/index_form.h"

namespace tessera::query {

/// A sum of products of elements, each at indices by themselves: what Einstein's notation writes.
struct Contraction {
  EinsumSpec spec;
  std::vector<int> arguments;  // of each operand, which argument of the form it is
};

/// By the shape of the form alone, however it was written; nothing if it is none.
std::optional<Contraction> contraction_of(const TypedForm& form);

}  // namespace tessera::query
