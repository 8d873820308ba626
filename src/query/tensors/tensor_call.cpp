#include "query/tensors/tensor_call.h"

#include <algorithm>

#include "base/check.h"
#include "calculus/einsum.h"
#include "calculus/operations.h"
#include "kernel/arguments.h"
#include "query/binding/bind_expression.h"
#include "query/rows/kernel_location.h"
#include "query/rows/refusal.h"
#include "query/rows/text_value.h"
#include "query/tensors/concatenation.h"
#include "query/tensors/diagonal_matrix.h"
#include "query/tensors/einsum.h"
#include "query/tensors/tensor_contraction.h"
#include "query/tensors/tensor_reduction.h"
#include "query/tensors/tensor_reshape.h"
#include "query/tensors/tensor_scan.h"
#include "tile/dispatch.h"

namespace tessera::query {
namespace {

using calculus::Array;
using lang::fail_type;

bool is_number(const TensorOperand& operand) {
  return !operand.array && operand.number.dtype() != DType::boolean;
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
EinsumSpec outer_spec(int left, int right) {
  EinsumSpec spec{{"", ""}, ""};
  for (int d = 0; d < left + right; ++d) {
    const char letter = static_cast<char>('a' + d);
    spec.operands[d < left ? 0 : 1] += letter;
    spec.output += letter;
  }
  return spec;
}

Array swapped(const Array& array, bool swap) {
  if (!swap) return array;
  const Shape& shape = array.type.shape;
  TESSERA_REQUIRE(TypeError, shape.rank() >= 2,
                  "cannot transpose {}: it has less than two dimensions", to_string(shape));
  std::vector<int> axes;
  for (int d = 0; d < shape.rank(); ++d) axes.push_back(d);
  std::swap(axes[axes.size() - 2], axes.back());
  return calculus::permuted(array, axes);
}

/// A reduction as a fold; nothing if it is none, or keeps what it folds, or has nothing to fold.
std::optional<Array> folded(const KernelCall& kernel, const Array& array) {
  const std::string& name = kernel.kernel().name;
  const bool is_mean = name == "mean";
  const auto monoid = is_mean ? Monoid::sum : monoid_named(name);
  if (!monoid || gives_position(*monoid) || kernel.params().flag("keepdims")) return std::nullopt;
  const Shape& shape = array.type.shape;
  const std::vector<std::int64_t> given = kernel.params().integers("axes");
  std::vector<int> axes;
  for (int axis : normalize_axes(name, given, shape)) axes.push_back(axis);
  if (given.empty())
    for (int d = 0; d < shape.rank(); ++d) axes.push_back(d);
  double count = 1;
  for (int axis : axes) count *= static_cast<double>(shape[axis]);
  if (count == 0 || axes.empty()) return std::nullopt;  // the kernel says what that is
  const Array numbers =
      is_mean && !is_float(array.type.dtype) ? calculus::converted(array, DType::f64) : array;
  const Array fold = calculus::folded(*monoid, numbers, axes);
  return is_mean ? calculus::with_number("div", fold, Scalar(count), false) : fold;
}

/// The parts in one dtype, as tensors.
std::vector<Tensor> alike(const std::vector<Array>& parts, Arrays& arrays) {
  DType dtype = parts.at(0).type.dtype;
  for (const Array& part : parts) dtype = promote(dtype, part.type.dtype);
  std::vector<Tensor> tensors;
  for (const Array& part : parts)
    tensors.push_back(arrays.tensor(calculus::converted(part, dtype)));
  return tensors;
}

Array applied(const KernelCall& kernel, const std::vector<Array>& arguments, int output,
              Arrays& arrays) {
  const std::string& name = kernel.kernel().name;
  const Params& params = kernel.params();
  const Array& first = arguments.at(0);
  if (name == "transpose") return calculus::transposed(first);
  if (name == "permute") {
    (void)kernel.infer(std::vector{TileType{first.type.dtype, first.type.shape}});  // checks axes
    std::vector<int> axes;
    for (std::int64_t axis : params.integers("axes"))
      axes.push_back(static_cast<int>(axis < 0 ? axis + first.type.shape.rank() : axis));
    return calculus::permuted(first, axes);
  }
  if (name == "diag" && first.type.shape.rank() == 1) return diagonal_matrix(first);
  if (name == "diag" && first.type.shape.rank() == 2 && first.type.shape[0] == first.type.shape[1])
    return einsum(EinsumCall{"ii->i"}, arguments);
  if (name == "matmul" || name == "batched_matmul")
    return matrix_product(swapped(first, params.flag("transpose_a")),
                          swapped(arguments[1], params.flag("transpose_b")));
  if (name == "outer")
    return calculus::einsum(outer_spec(first.type.shape.rank(), arguments[1].type.shape.rank()),
                            arguments);
  if (name == "inner") {
    const std::string letters = std::string("abcdefgh").substr(0, first.type.shape.size());
    return calculus::einsum({{letters, letters}, ""}, arguments);
  }
  if (const auto fold = folded(kernel, first)) return *fold;
  if (name == "concat") {
    std::vector<TileType> types;
    for (const Array& argument : arguments)
      types.push_back({argument.type.dtype, argument.type.shape});
    (void)kernel.infer(types);  // checks the axis and the extents
    const int axis = normalize_axis(name, params.integer("axis"), first.type.shape);
    return arrays.given(concatenated(alike(arguments, arrays), axis));
  }
  std::vector<Tensor> tensors;
  for (const Array& argument : arguments) tensors.push_back(arrays.tensor(argument));
  const auto made = [&]() -> Tensor {
    if (is_reduction(kernel.kernel())) return reduced(tensors[0], kernel);
    if (name == "reshape") {
      const TileType type{first.type.dtype, first.type.shape};
      return reshaped(tensors[0], kernel.infer(std::vector{type}).at(0).shape);
    }
    if (is_scan(kernel.kernel())) return scanned(tensors[0], kernel);
    if (name == "softmax") return softmax(tensors[0]);
    if (kernel.properties().elementwise && tensors.size() == 1) return mapped(tensors[0], kernel);
    if (kernel.properties().elementwise && tensors.size() == 2)
      return elementwise(tensors[0], tensors[1], kernel);
    return applied_whole(tensors, kernel, output);
  };
  return arrays.given(made());
}

/// Whether a kernel is no more than a function of numbers, which no value makes fail.
bool is_scalar_function(const KernelCall& kernel, const std::vector<DType>& arguments) {
  const ScalarFunction* function = scalar_function(kernel.kernel().name);
  if (function == nullptr || !std::cmp_equal(function->arguments, arguments.size()) ||
      !kernel.params().values().empty())
    return false;
  std::vector<TileType> types;
  for (const DType dtype : arguments) types.push_back({dtype, {}});
  return !may_refuse(kernel, types);
}

Scalar scalar_of(const Tile& number) {
  return visit_dtype(number.dtype(), [&]<class T>() { return Scalar(number.at<T>({})); });
}

/// where(condition, a, b): a and b may be numbers.
TensorOperand where(const sql::Call& call, const std::vector<TensorOperand>& arguments,
                    lang::Location location, Arrays& arrays) {
  if (arguments.size() != 3 || !call.parameters.empty())
    fail_type(location,
              "where takes a condition, what stands where it holds, and what stands "
              "elsewhere, such as where(x > 0, x, 0)");
  const auto branch = [&](const TensorOperand& operand) -> calculus::ArrayOrNumber {
    if (operand.array) return *operand.array;
    return scalar_of(operand.number);
  };
  try {
    return {calculus::chosen(as_array(arguments[0], arrays), branch(arguments[1]),
                             branch(arguments[2]))};
  } catch (const TypeError& error) {
    throw TypeError(fmt::format("where({}, {}, {}): {}", shape_text(arguments[0]),
                                shape_text(arguments[1]), shape_text(arguments[2]), error.what()));
  }
}

/// stack(a, b, ..., axis = k): side by side along a new dimension.
TensorOperand stacked(const sql::Call& call, const std::vector<Array>& parts, Arrays& arrays) {
  std::int64_t given = 0;
  for (const auto& [name, written] : call.parameters) {
    if (!same_name(name, "axis"))
      fail_type(written->location, "stack has no parameter \"{}\"; it has axis", name);
    const ParamValue value = parameter_of(*written, name);
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr)
      fail_type(written->location, "axis must be the number of a dimension of the result");
    given = *number;
  }
  const Shape& shape = parts.at(0).type.shape;
  for (const Array& part : parts)
    TESSERA_REQUIRE(TypeError, part.type.shape == shape,
                    "stack: all arguments must have one shape; found {} and {}", to_string(shape),
                    to_string(part.type.shape));
  TESSERA_REQUIRE(TypeError, shape.rank() < max_rank, "stack: {} already has {} dimensions",
                  to_string(shape), max_rank);
  Shape result = shape;
  result.push_back(static_cast<std::int64_t>(parts.size()));
  const int axis = normalize_axis("stack", given, result);
  std::vector<Tensor> tensors = alike(parts, arrays);
  for (Tensor& tensor : tensors) tensor = expanded(tensor, axis);
  return {arrays.given(concatenated(tensors, axis))};
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

Array as_array(const TensorOperand& operand, Arrays& arrays) {
  return operand.array ? *operand.array : arrays.given(constant_tensor(operand.number));
}

std::string shape_text(const TensorOperand& operand) {
  if (!operand.array) return "the number " + text_of(operand.number);
  return to_string(TileType{operand.array->type.dtype, operand.array->type.shape});
}

TensorOperand mapped(const KernelCall& kernel, const TensorOperand& operand, Arrays& arrays) {
  if (!operand.array) return {{}, kernel({operand.number})};
  if (is_scalar_function(kernel, {operand.array->type.dtype}))
    return {calculus::mapped(kernel.kernel().name, *operand.array)};
  return {arrays.given(mapped(arrays.tensor(*operand.array), kernel))};
}

TensorOperand elementwise(const std::string& kernel, const TensorOperand& a, const TensorOperand& b,
                          Arrays& arrays) {
  if (!a.array && !b.array) return {{}, KernelCall(kernel)({a.number, b.number})};
  const bool left = is_number(a);
  const bool number = left || is_number(b);
  const DType dtype_a = a.array ? a.array->type.dtype : a.number.dtype();
  const DType dtype_b = b.array ? b.array->type.dtype : b.number.dtype();
  if (is_scalar_function(KernelCall(kernel), {dtype_a, dtype_b})) {
    if (number)
      return {calculus::with_number(kernel, left ? *b.array : *a.array,
                                    scalar_of(left ? a.number : b.number), left)};
    return {calculus::elementwise(kernel, as_array(a, arrays), as_array(b, arrays))};
  }
  const auto scalar = kernel_named(kernel + "_scalar");
  if (number && scalar) {
    const Tile& written = left ? a.number : b.number;
    ParamValue value = written.at<double>({});
    if (written.dtype() == DType::i64) value = written.at<std::int64_t>({});
    const KernelCall call(scalar->kernel, {{"value", value}, {"left", left}});
    return {arrays.given(mapped(arrays.tensor(left ? *b.array : *a.array), call))};
  }
  return {arrays.given(elementwise(arrays.tensor(as_array(a, arrays)),
                                   arrays.tensor(as_array(b, arrays)), KernelCall(kernel)))};
}

TensorOperand call_tensors(const sql::Call& call, const std::vector<TensorOperand>& arguments,
                           const std::optional<std::string>& spec, lang::Location location,
                           Arrays& arrays) {
  if (call.star || call.distinct)
    fail_type(location, "{} over tensors does not support * or DISTINCT", call.name);
  return lang::at_location(location, [&]() -> TensorOperand {
    std::vector<Array> given;
    for (const TensorOperand& argument : arguments) given.push_back(as_array(argument, arrays));
    if (same_name(call.name, "where")) return where(call, arguments, location, arrays);
    if (same_name(call.name, "stack")) return stacked(call, given, arrays);
    if (spec) return {einsum(einsum_call(call, *spec), given)};
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
    for (const Array& array : given) types.push_back({array.type.dtype, array.type.shape});
    const KernelCall bound = may_refuse(named, types) ? placed(named, location) : named;
    const bool plain = call.parameters.empty() && kernel.properties.elementwise;
    if (plain && arguments.size() == 2)
      return elementwise(kernel.name, arguments[0], arguments[1], arrays);
    if (plain && arguments.size() == 1) return mapped(bound, arguments[0], arrays);
    const bool numbers = std::none_of(arguments.begin(), arguments.end(),
                                      [](const TensorOperand& one) { return one.array; });
    if (kernel.properties.elementwise && numbers && arguments.size() == 1)
      return {{}, bound({arguments[0].number})};
    return {applied(bound, given, static_cast<int>(output), arrays)};
  });
}

}  // namespace tessera::query
