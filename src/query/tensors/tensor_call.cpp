#include "query/tensors/tensor_call.h"

#include <algorithm>

#include "base/check.h"
#include "query/binding/bind_expression.h"
#include "query/rows/kernel_location.h"
#include "query/rows/refusal.h"
#include "query/rows/text_value.h"
#include "query/tensors/einsum.h"
#include "query/tensors/tensor_contraction.h"
#include "query/tensors/tensor_reduction.h"

namespace tessera::query {
namespace {

using lang::fail_type;

bool is_number(const TensorOperand& operand) {
  return !operand.tensor && operand.number.dtype() != DType::boolean;
}

ParamValue parameter_of(const sql::Expression& written, const std::string& name) {
  const auto* list = std::get_if<sql::ArrayLiteral>(&written.node);
  if (list != nullptr && list->elements.empty()) return std::vector<std::int64_t>{};
  const ExpressionPtr bound = bind_constant(written, {});
  const auto* constant = std::get_if<Constant>(&bound->node);
  if (constant == nullptr || constant->value.is_null())
    fail_type(written.location, "parameter \"{}\" must be a constant", name);
  if (constant->value.is_text()) return constant->value.text();
  const Tile tile = constant->value.tile().contiguous();
  if (tile.rank() == 0 && tile.dtype() == DType::boolean) return tile.at<bool>({});
  if (tile.rank() == 0 && tile.dtype() == DType::i64) return tile.at<std::int64_t>({});
  if (tile.rank() == 0) return tile.at<double>({});
  if (tile.rank() != 1 || tile.dtype() != DType::i64)
    fail_type(written.location, "parameter \"{}\" must be a number, a text or a list of integers",
              name);
  return std::vector<std::int64_t>(tile.data<std::int64_t>(),
                                   tile.data<std::int64_t>() + tile.elements());
}

/// The letters of a product of all elements with all: 'ab,cd->abcd'.
EinsumSpec outer_spec(const Tensor& a, const Tensor& b) {
  EinsumSpec spec{{"", ""}, ""};
  for (int d = 0; d < a.type.rank() + b.type.rank(); ++d) {
    const char letter = static_cast<char>('a' + d);
    spec.operands[d < a.type.rank() ? 0 : 1] += letter;
    spec.output += letter;
  }
  return spec;
}

Tensor swapped(const Tensor& tensor, bool swap) {
  if (!swap) return tensor;
  TESSERA_REQUIRE(TypeError, tensor.type.rank() >= 2,
                  "cannot transpose {}: it has less than two dimensions",
                  to_string(tensor.type.shape));
  std::vector<int> axes;
  for (int d = 0; d < tensor.type.rank(); ++d) axes.push_back(d);
  std::swap(axes[axes.size() - 2], axes.back());
  return permuted(tensor, axes);
}

Tensor applied(const KernelCall& kernel, const std::vector<Tensor>& arguments, int output) {
  const std::string& name = kernel.kernel().name;
  const Params& params = kernel.params();
  const Tensor& first = arguments.at(0);
  if (is_reduction(kernel.kernel())) return reduced(first, kernel);
  if (name == "softmax") return softmax(first);
  if (name == "transpose") return transposed(first);
  if (name == "permute") {
    (void)kernel.infer(std::vector{TileType{first.type.dtype, first.type.shape}});  // checks axes
    std::vector<int> axes;
    for (std::int64_t axis : params.integers("axes"))
      axes.push_back(static_cast<int>(axis < 0 ? axis + first.type.rank() : axis));
    return permuted(first, axes);
  }
  if (name == "matmul" || name == "batched_matmul")
    return matrix_product(swapped(first, params.flag("transpose_a")),
                          swapped(arguments[1], params.flag("transpose_b")));
  if (name == "outer") return contraction(outer_spec(first, arguments[1]), arguments);
  if (name == "inner") {
    const std::string letters = std::string("abcdefgh").substr(0, first.type.shape.size());
    return contraction({{letters, letters}, ""}, arguments);
  }
  if (kernel.properties().elementwise && arguments.size() == 1) return mapped(first, kernel);
  if (kernel.properties().elementwise && arguments.size() == 2)
    return elementwise(first, arguments[1], kernel);
  return applied_whole(arguments, kernel, output);
}

EinsumCall einsum_call(const sql::Call& call, const std::string& text) {
  EinsumCall result{text};
  for (const auto& [name, written] : call.parameters) {
    if (!same_name(name, "reduce") && !same_name(name, "combine"))
      fail_type(written->location, "einsum has no parameter \"{}\"; it has reduce and combine",
                name);
    const ParamValue value = parameter_of(*written, name);
    const auto* function = std::get_if<std::string>(&value);
    if (function == nullptr)
      fail_type(written->location, "{} must be the name of a function, as in {} = 'max'", name,
                name);
    (same_name(name, "reduce") ? result.reduce : result.combine) = *function;
  }
  return result;
}

}  // namespace

Tensor as_tensor(const TensorOperand& operand) {
  return operand.tensor ? *operand.tensor : constant_tensor(operand.number);
}

std::string shape_text(const TensorOperand& operand) {
  if (!operand.tensor) return "the number " + text_of(operand.number);
  return to_string(TileType{operand.tensor->type.dtype, operand.tensor->type.shape});
}

TensorOperand elementwise(const std::string& kernel, const TensorOperand& a,
                          const TensorOperand& b) {
  if (!a.tensor && !b.tensor) return {{}, KernelCall(kernel)({a.number, b.number})};
  const bool left = is_number(a);
  const auto scalar = kernel_named(kernel + "_scalar");
  if ((left || is_number(b)) && scalar) {
    const Tile& number = left ? a.number : b.number;
    ParamValue value = number.at<double>({});
    if (number.dtype() == DType::i64) value = number.at<std::int64_t>({});
    return {mapped(left ? *b.tensor : *a.tensor,
                   KernelCall(scalar->kernel, {{"value", value}, {"left", left}}))};
  }
  return {elementwise(as_tensor(a), as_tensor(b), KernelCall(kernel))};
}

TensorOperand call_tensors(const sql::Call& call, std::vector<TensorOperand> arguments,
                           const std::optional<std::string>& spec, lang::Location location) {
  if (call.star || call.distinct)
    fail_type(location, "{} over tensors does not support * or DISTINCT", call.name);
  return lang::at_location(location, [&]() -> TensorOperand {
    std::vector<Tensor> tensors;
    for (const TensorOperand& argument : arguments) tensors.push_back(as_tensor(argument));
    if (spec) return {einsum(einsum_call(call, *spec), tensors)};
    const KernelBinding binding =
        function_named(same_name(call.name, "avg") ? "mean" : call.name, location);
    const Kernel& kernel = *binding.kernel;
    if (std::cmp_less(arguments.size(), kernel.min_arguments) ||
        std::cmp_greater(arguments.size(), kernel.max_arguments))
      fail_type(location, "{} takes {}{} argument{}, found {}", call.name,
                kernel.min_arguments == kernel.max_arguments ? "" : "at least ",
                kernel.min_arguments, kernel.min_arguments == 1 ? "" : "s", arguments.size());
    Params params = binding.params;
    std::int64_t output = 0;
    for (const auto& [name, written] : call.parameters) {
      const ParamValue value = parameter_of(*written, name);
      if (!same_name(name, "output")) {
        params.set(name, value);
        continue;
      }
      const auto* number = std::get_if<std::int64_t>(&value);
      if (number == nullptr)
        fail_type(written->location, "output must be the number of a result, counted from 0");
      output = *number;
    }
    const KernelCall named(binding.kernel, params);
    std::vector<TileType> types;
    for (const Tensor& tensor : tensors) types.push_back({tensor.type.dtype, tensor.type.shape});
    const KernelCall bound = may_refuse(named, types) ? placed(named, location) : named;
    const bool plain = call.parameters.empty() && kernel.properties.elementwise;
    if (plain && arguments.size() == 2) return elementwise(kernel.name, arguments[0], arguments[1]);
    const bool numbers = std::none_of(arguments.begin(), arguments.end(),
                                      [](const TensorOperand& one) { return one.tensor; });
    if (kernel.properties.elementwise && numbers && arguments.size() == 1)
      return {{}, bound({arguments[0].number})};
    return {applied(bound, tensors, static_cast<int>(output))};
  });
}

}  // namespace tessera::query
