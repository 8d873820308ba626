#include <cmath>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "support/reference_kernels.h"
#include "support/sum_of_products.h"

namespace tessera {
namespace {

std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

Shape leading(const Shape& shape) {
  return shape.rank() <= 2 ? Shape() : Shape(shape.begin(), shape.end() - 2);
}

/// A matrix operand: which of its elements stands at (row, column) of which matrix of the batch.
struct Operand {
  Elements elements;
  bool transposed = false;
  bool is_row = false;     // a vector on the left
  bool is_column = false;  // a vector on the right
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  Operand(const Elements& given, DType dtype, bool transpose, bool left)
      : elements(converted(given, dtype)), transposed(transpose) {
    const Shape& shape = elements.shape;
    TESSERA_REQUIRE(TypeError, shape.rank() > 0, "a scalar is no matrix");
    if (shape.rank() == 1) {
      TESSERA_REQUIRE(TypeError, !transpose, "a vector cannot be transposed");
      (left ? is_row : is_column) = true;
      (left ? columns : rows) = shape[0];
    } else {
      rows = shape[shape.size() - 2];
      columns = shape.back();
      if (transposed) std::swap(rows, columns);
    }
  }

  std::int64_t position(const Index& batch, std::int64_t row, std::int64_t column) const {
    if (is_row) return column;
    if (is_column) return row;
    if (transposed) std::swap(row, column);
    const Shape lead = leading(elements.shape);
    const Index own(batch.end() - lead.rank(), batch.end());
    return (broadcast_position(own, lead) * elements.shape[elements.shape.size() - 2] + row) *
               elements.shape.back() +
           column;
  }
};

Expected matrix_product(const Elements& left, const Elements& right, const Params& params) {
  const DType dtype = promote(left.dtype, right.dtype);
  const Operand a(left, dtype, params.flag("transpose_a"), true);
  const Operand b(right, dtype, params.flag("transpose_b"), false);
  TESSERA_REQUIRE(TypeError, a.columns == b.rows, "inner extents differ");
  const Shape batch = broadcast_shapes(leading(left.shape), leading(right.shape));
  Shape shape = batch;
  if (!a.is_row) shape.push_back(a.rows);
  if (!b.is_column) shape.push_back(b.columns);
  Expected result{Elements(dtype, shape)};
  std::int64_t position = 0;
  for (std::int64_t matrix = 0; matrix < batch.elements(); ++matrix)
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < b.columns; ++j) {
        const Index index = index_of(matrix, batch);
        SumOfProducts sum;
        for (std::int64_t k = 0; k < a.columns; ++k)
          sum.add_stored(a.elements, a.position(index, i, k), b.elements, b.position(index, k, j));
        sum.put(result, position++);
      }
  return result;
}

Judge matmul(const Arguments& arguments, const Params& params) {
  return equals(matrix_product(arguments[0], arguments[1], params));
}

Judge batched_matmul(const Arguments& arguments, const Params& params) {
  TESSERA_REQUIRE(TypeError,
                  arguments[0].shape.rank() >= 3 &&
                      arguments[0].shape.rank() == arguments[1].shape.rank() &&
                      leading(arguments[0].shape) == leading(arguments[1].shape),
                  "batches differ");
  return equals(matrix_product(arguments[0], arguments[1], params));
}

Judge outer(const Arguments& arguments, const Params&) {
  const DType dtype = promote(arguments[0].dtype, arguments[1].dtype);
  const Elements a = converted(arguments[0], dtype);
  const Elements b = converted(arguments[1], dtype);
  Shape shape = a.shape;
  for (std::int64_t extent : b.shape) shape.push_back(extent);
  Expected result{Elements(dtype, shape)};
  for (std::int64_t i = 0; i < a.size(); ++i)
    for (std::int64_t j = 0; j < b.size(); ++j) {
      const std::int64_t place = i * b.size() + j;
      if (a.stored[i] == 0 || b.stored[j] == 0) continue;  // an exact zero
      if (is_float(dtype))
        result.values.set_real(place, a.reals[i] * b.reals[j]);
      else
        result.values.set_integer(place, wrapped_product(a.integers[i], b.integers[j]));
    }
  return equals(std::move(result));
}

Judge inner(const Arguments& arguments, const Params&) {
  TESSERA_REQUIRE(TypeError, arguments[0].shape == arguments[1].shape, "shapes differ");
  const DType dtype = promote(arguments[0].dtype, arguments[1].dtype);
  const Elements a = converted(arguments[0], dtype);
  const Elements b = converted(arguments[1], dtype);
  SumOfProducts sum;
  for (std::int64_t i = 0; i < a.size(); ++i) sum.add_stored(a, i, b, i);
  Expected result{Elements(dtype, {})};
  sum.put(result, 0);
  return equals(std::move(result));
}

/// mask * (a b), and an exact zero where the mask is not stored or, if it is dense, zero.
Judge sampled_matmul(const Arguments& arguments, const Params& params) {
  const Elements& mask = arguments[0];
  for (const Elements& argument : arguments)
    TESSERA_REQUIRE(TypeError, argument.shape.rank() == 2, "not a matrix");
  Params product_params = params;
  product_params.set("transpose_a", false);
  const Expected exact = matrix_product(arguments[1], arguments[2], product_params);
  TESSERA_REQUIRE(TypeError, mask.shape == exact.values.shape, "extents differ");
  const bool scaled = params.flag("use_mask_values");
  const DType dtype = scaled ? promote(exact.values.dtype, mask.dtype) : exact.values.dtype;
  const Elements product = converted(exact.values, dtype);
  const Elements scales = converted(mask, dtype);
  Expected result{Elements(dtype, mask.shape)};
  if (is_float(dtype)) result.tolerances.resize(mask.size());
  for (std::int64_t i = 0; i < mask.size(); ++i) {
    if (mask.stored[i] == 0 || (mask.all_stored && !mask.is_nonzero(i))) continue;
    if (!is_float(dtype)) {
      const std::int64_t scale = scaled ? scales.integers[i] : 1;
      result.values.set_integer(i, wrapped_product(product.integers[i], scale));
      continue;
    }
    const double scale = scaled ? scales.reals[i] : 1;
    result.values.set_real(i, product.reals[i] * scale);
    const double off = exact.tolerances.empty() ? 0 : exact.tolerances[i];
    const double bound =
        off * std::abs(scale) + epsilon_of(dtype) * std::abs(product.reals[i] * scale);
    // A sum that may have cancelled to zero makes NaN of an infinite scale.
    const bool unsettled = std::isinf(scale) && off > 0 && std::abs(product.reals[i]) <= off;
    result.tolerances[i] = unsettled              ? std::numeric_limits<double>::infinity()
                           : std::isfinite(bound) ? bound
                                                  : 0;
  }
  return equals(std::move(result));
}

}  // namespace

References product_references() {
  return {{"matmul", matmul},
          {"batched_matmul", batched_matmul},
          {"outer", outer},
          {"inner", inner},
          {"sampled_matmul", sampled_matmul}};
}

}  // namespace tessera
