#pragma once

#include "lang/location.h"
#include "lang/sql/ast.h"
#include "query/tensors/lower_array.h"

namespace tessera::query {

/// A part of an expression: an array, or a number that takes the dtype of what it meets.
struct TensorOperand {
  std::optional<calculus::Array> array = {};
  Tile number = {};
};
calculus::Array as_array(const TensorOperand& operand, Arrays& arrays);
/// What stands there, for messages: "f64[2x3]" or "the number 2".
std::string shape_text(const TensorOperand& operand);

/// One operand through a kernel that works element by element.
TensorOperand mapped(const KernelCall& kernel, const TensorOperand& operand, Arrays& arrays);
/// Two of them, broadcast.
TensorOperand elementwise(const std::string& kernel, const TensorOperand& a, const TensorOperand& b,
                          Arrays& arrays);
/// A function by its name: of elements, of all elements at once, or a kernel inside the tiles and
/// across them. `spec` is the text of an einsum.
TensorOperand call_tensors(const sql::Call& call, const std::vector<TensorOperand>& arguments,
                           const std::optional<std::string>& spec, lang::Location location,
                           Arrays& arrays);

}  // namespace tessera::query
