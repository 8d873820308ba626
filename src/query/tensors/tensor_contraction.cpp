#include "query/tensors/tensor_contraction.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "query/tensors/indexed_tensor.h"
#include "query/tensors/tensor_reduction.h"

namespace tessera::query {
namespace {

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

void check(const EinsumSpec& spec, const std::vector<Tensor>& operands) {
  TESSERA_REQUIRE(TypeError, spec.operands.size() == operands.size(),
                  "einsum: '{}' expects {} tensors, found {}", spec.to_string(),
                  spec.operands.size(), operands.size());
  TESSERA_REQUIRE(TypeError, operands.size() == 1 || operands.size() == 2,
                  "einsum takes one or two tensors, found {}; nest several calls", operands.size());
  TESSERA_REQUIRE(TypeError, std::cmp_less_equal(spec.output.size(), max_rank),
                  "einsum: the result of '{}' has {} dimensions, but the maximum is {}",
                  spec.to_string(), spec.output.size(), max_rank);
  std::map<char, std::pair<std::int64_t, const Shape*>> extents;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    const Shape& shape = operands[o].type.shape;
    TESSERA_REQUIRE(TypeError, std::cmp_equal(spec.operands[o].size(), shape.size()),
                    "einsum: '{}' has {} indices for a tensor of {}", spec.operands[o],
                    spec.operands[o].size(), to_string(shape));
    for (int d = 0; d < shape.rank(); ++d) {
      const char letter = spec.operands[o][static_cast<std::size_t>(d)];
      const auto [known, added] = extents.emplace(letter, std::pair(shape[d], &shape));
      TESSERA_REQUIRE(TypeError, added || known->second.first == shape[d],
                      "einsum: shapes {} and {} do not match '{}': index {} has sizes {} and {}",
                      to_string(*known->second.second), to_string(shape), spec.to_string(), letter,
                      known->second.first, shape[d]);
    }
  }
}

/// Each letter once, and summed over those that nobody else asks for.
Indexed prepared(const Tensor& tensor, const std::string& letters, const std::string& wanted) {
  Indexed result = diagonal({tensor, letters});
  std::vector<std::int64_t> axes;
  std::string kept;
  for (std::size_t d = 0; d < result.letters.size(); ++d)
    if (has(wanted, result.letters[d]))
      kept += result.letters[d];
    else
      axes.push_back(static_cast<std::int64_t>(d));
  if (axes.empty()) return result;
  const char* sum = tensor.type.dtype == DType::boolean ? "any" : "sum";
  return {reduced(result.tensor, KernelCall(sum, {{"axes", axes}})), kept};
}

Tensor in_order(const Indexed& from, const std::string& output) {
  std::vector<int> axes;
  for (char letter : output) axes.push_back(static_cast<int>(from.letters.find(letter)));
  return permuted(from.tensor, axes);
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
std::optional<KernelCall> as_matrix_product(const std::string& a, const std::string& b,
                                            const std::string& output) {
  std::string summed, batch;
  for (char letter : a) {
    if (!has(b, letter)) continue;
    if (has(output, letter))
      batch += letter;
    else
      summed += letter;
  }
  if (summed.size() != 1) return std::nullopt;
  const auto left = after(batch, a), right = after(batch, b), result = after(batch, output);
  if (!left || !right || !result) return std::nullopt;
  const bool matrices = left->size() == 2 && right->size() == 2;
  if (!matrices && !batch.empty()) return std::nullopt;  // vectors have no batches
  const bool transpose_a = left->size() == 2 && left->front() == summed[0];
  const bool transpose_b = right->size() == 2 && right->back() == summed[0];
  std::string product;
  for (char letter : *left + *right)
    if (letter != summed[0]) product += letter;
  if (product != *result) return std::nullopt;
  return KernelCall("matmul", {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

Tensor contracted(const Indexed& a, const Indexed& b, const std::string& output) {
  if (a.letters == b.letters && a.letters == output) return elementwise(a.tensor, b.tensor, "mul");
  if (const auto kernel = as_matrix_product(a.letters, b.letters, output))
    return joined(a, b, *kernel, output);
  if (const auto kernel = as_matrix_product(b.letters, a.letters, output))
    return joined(b, a, *kernel, output);
  const EinsumSpec spec{{a.letters, b.letters}, output};
  return joined(a, b, KernelCall("einsum", {{"spec", spec.to_string()}}), output);
}

}  // namespace

Tensor einsum(const EinsumSpec& spec, const std::vector<Tensor>& operands) {
  check(spec, operands);
  if (operands.size() == 1)
    return in_order(prepared(operands[0], spec.operands[0], spec.output), spec.output);
  // In one arithmetic: what is added up as numbers is not first taken for truth values.
  const DType dtype = promote(operands[0].type.dtype, operands[1].type.dtype);
  std::vector<Indexed> ready;
  for (std::size_t o = 0; o < 2; ++o) {
    const std::string& letters = spec.operands[o];
    const std::string wanted = spec.operands[1 - o] + spec.output;
    const bool adds = std::any_of(letters.begin(), letters.end(),
                                  [&](char letter) { return !has(wanted, letter); });
    ready.push_back(prepared(adds ? as_dtype(operands[o], dtype) : operands[o], letters, wanted));
  }
  return contracted(ready[0], ready[1], spec.output);
}

Tensor matrix_product(const Tensor& a, const Tensor& b) {
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
  std::string output = std::string("abcdefgh").substr(0, batch.size());
  const auto letters = [&](const Tensor& tensor, const std::string& matrix, const char* vector,
                           char own) {
    if (tensor.type.rank() == 1) return Indexed{tensor, vector};
    Shape shape = batch;
    for (int d = tensor.type.rank() - 2; d < tensor.type.rank(); ++d)
      shape.push_back(tensor.type.shape[d]);
    return broadcast(tensor, shape, output + matrix, own);
  };
  const Indexed first = letters(a, "ik", "k", 'A'), second = letters(b, "kj", "k", 'N');
  if (a.type.rank() > 1) output += 'i';
  if (b.type.rank() > 1) output += 'j';
  return joined(first, second, "matmul", output);
}

}  // namespace tessera::query
