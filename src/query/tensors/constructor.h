#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lang/sql/ast.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// A function that makes a tensor out of numbers alone, such as zeros(2, 3).
struct Constructor {
  std::string_view name, description;
};
std::vector<Constructor> constructors();
bool is_constructor(std::string_view name);

/// The tensor that a call makes; none if it is a call of something else. Its arguments must be
/// constants.
std::optional<Tensor> constructed(const sql::Call& call, lang::Location location);

}  // namespace tessera::query
