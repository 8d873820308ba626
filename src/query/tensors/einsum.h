#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calculus/array.h"

namespace tessera::query {

/// A call of einsum: its text, and how it folds and combines if it does not add up products.
struct EinsumCall {
  std::string text;
  std::optional<std::string> reduce = {}, combine = {};
};

/// TypeError if the operands do not fit, or there is no such fold or function.
calculus::Array einsum(const EinsumCall& call, const std::vector<calculus::Array>& operands);

}  // namespace tessera::query
