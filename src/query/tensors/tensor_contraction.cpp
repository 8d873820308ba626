#include "query/tensors/tensor_contraction.h"

#include <algorithm>

#include "base/check.h"
#include "calculus/einsum.h"
#include "query/tensors/labelled_tensor.h"
#include "query/tensors/tensor_reduction.h"

namespace tessera::query {
namespace {

void check(const EinsumSpec& spec, const std::vector<Tensor>& operands) {
  TESSERA_INVARIANT(
      spec.operands.size() == operands.size() && !operands.empty() && operands.size() <= 2,
      "'{}' of {} operands", spec.to_string(), operands.size());
  std::vector<Shape> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.type.shape);
  (void)spec.extents(shapes);  // they fit
}

/// Summed over the letters that nobody else asks for.
LabelledTensor summed(const LabelledTensor& from, const EinsumSpec::SummedFirst& first) {
  if (first.axes.empty()) return from;
  const char* sum = from.tensor.type.dtype == DType::boolean ? "any" : "sum";
  return {reduced(from.tensor, KernelCall(sum, {{"axes", first.axes}})), first.left};
}

Tensor as_dtype(const Tensor& tensor, DType dtype) {
  if (tensor.type.dtype == dtype) return tensor;
  return mapped(tensor, KernelCall("cast", {{"dtype", std::string(to_string(dtype))}}));
}

/// What comes after some letters, if they are at the beginning and at most two others follow.
std::optional<std::string> after(const std::string& batch, const std::string& letters) {
  if (!letters.starts_with(batch) || letters.size() > batch.size() + 2) return std::nullopt;
  return letters.substr(batch.size());
}

/// The matrix product that a contraction is, if it is one as its operands lie: its kernel is the
/// fastest, and what the optimizer knows of products it knows of that.
std::optional<KernelCall> as_matrix_product(const EinsumSpec& spec) {
  const auto& [batch, summed, own_left, own_right] = spec.roles();
  if (summed.size() != 1) return std::nullopt;
  const auto left = after(batch, spec.operands[0]), right = after(batch, spec.operands[1]),
             result = after(batch, spec.output);
  if (!left || !right || !result) return std::nullopt;
  const bool matrices = left->size() == 2 && right->size() == 2;
  if (!matrices && !batch.empty()) return std::nullopt;  // vectors have no batches
  const bool transpose_a = left->size() == 2 && left->front() == summed[0];
  const bool transpose_b = right->size() == 2 && right->back() == summed[0];
  if (own_left + own_right != *result) return std::nullopt;
  return KernelCall("matmul", {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

Tensor contracted(const LabelledTensor& a, const LabelledTensor& b, const std::string& output) {
  if (a.letters == b.letters && a.letters == output) return elementwise(a.tensor, b.tensor, "mul");
  const EinsumSpec spec{{a.letters, b.letters}, output};
  if (const auto kernel = as_matrix_product(spec)) return joined(a, b, *kernel, output);
  if (const auto kernel = as_matrix_product({{b.letters, a.letters}, output}))
    return joined(b, a, *kernel, output);
  return joined(a, b, KernelCall("einsum", {{"spec", spec.to_string()}}), output);
}

}  // namespace

Tensor contraction(EinsumSpec spec, const std::vector<Tensor>& operands) {
  check(spec, operands);
  // In one arithmetic: what is added up as numbers is not first taken for truth values.
  const DType dtype = promote(operands.front().type.dtype, operands.back().type.dtype);
  std::vector<LabelledTensor> ready;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    const bool adds = !spec.summed_first(o).axes.empty();
    const LabelledTensor once =
        diagonal({adds ? as_dtype(operands[o], dtype) : operands[o], spec.operands[o]});
    spec.operands[o] = once.letters;
    ready.push_back(summed(once, spec.summed_first(o)));
    spec.operands[o] = ready[o].letters;
  }
  if (operands.size() == 1)
    return permuted(ready[0].tensor, axes_of(spec.output, ready[0].letters));
  return contracted(ready[0], ready[1], spec.output);
}

calculus::Array matrix_product(const calculus::Array& a, const calculus::Array& b) {
  const Shape &left = a.type.shape, &right = b.type.shape;
  TESSERA_REQUIRE(
      TypeError, left.rank() > 0 && right.rank() > 0,
      "operator @ needs matrices or vectors, not shapes {} and {}; use * to multiply by a "
      "number",
      to_string(left), to_string(right));
  const std::int64_t columns = left.back(), rows = right[std::max(0, right.rank() - 2)];
  TESSERA_REQUIRE(
      TypeError, columns == rows,
      "shapes {} and {} do not match for @: the left side has {} columns, the right side {} "
      "rows",
      to_string(left), to_string(right), columns, rows);
  const auto lead = [](const Shape& shape) {
    return Shape(shape.begin(), shape.end() - std::min(shape.rank(), 2));
  };
  Shape batch;
  try {
    batch = broadcast_shapes(lead(left), lead(right));
  } catch (const TypeError&) {
    throw TypeError(fmt::format(
        "shapes {} and {} do not match for @: the leading dimensions {} and {} cannot be "
        "broadcast",
        to_string(left), to_string(right), to_string(lead(left)), to_string(lead(right))));
  }
  // The leading dimensions are those of the batch, the last ones.
  std::string output = std::string("abcdefgh").substr(0, batch.size());
  const auto letters = [&](const Shape& shape, const std::string& matrix) {
    if (shape.rank() == 1) return std::string("k");
    return output.substr(output.size() - lead(shape).size()) + matrix;
  };
  EinsumSpec spec{{letters(left, "ik"), letters(right, "kj")}, output};
  if (left.rank() > 1) spec.output += 'i';
  if (right.rank() > 1) spec.output += 'j';
  return calculus::einsum(spec, {a, b});
}

}  // namespace tessera::query
