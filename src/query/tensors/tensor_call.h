#pragma once

#include "lang/location.h"
#include "lang/sql/ast.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// A part of an expression: a tensor, or a number that takes the dtype of what it meets.
struct TensorOperand {
  std::optional<Tensor> tensor = {};
  Tile number = {};
};
Tensor as_tensor(const TensorOperand& operand);
/// What stands there, for messages: "f64[2x3]" or "the number 2".
std::string shape_text(const TensorOperand& operand);

/// Two operands through a kernel that works element by element.
TensorOperand elementwise(const std::string& kernel, const TensorOperand& a,
                          const TensorOperand& b);
/// A function by its name: a kernel, inside the tiles and across them. `spec` is the text of an
/// einsum.
TensorOperand call_tensors(const sql::Call& call, std::vector<TensorOperand> arguments,
                           const std::optional<std::string>& spec, lang::Location location);

}  // namespace tessera::query
