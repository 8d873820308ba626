#include "kernel/binary_operation.h"

#include <algorithm>
#include <array>

#include "kernel/form/operations.h"
#include "kernel/sparse_merge.h"
#include "tile/dispatch.h"

namespace tessera {
namespace operation {

constinit const BinaryOperation add{.zeros = ZeroLaw::preserves, .loops = loops_of<Add>()};
constinit const BinaryOperation sub{.zeros = ZeroLaw::preserves, .loops = loops_of<Sub>()};
constinit const BinaryOperation mul{.zeros = ZeroLaw::annihilates, .loops = loops_of<Mul>()};
constinit const BinaryOperation div{.working = WorkingDType::floating, .loops = loops_of<Div>()};
constinit const BinaryOperation power{
    .working = WorkingDType::number, .loops = loops_of<Power>(), .is_power = true};
constinit const BinaryOperation maximum{.zeros = ZeroLaw::preserves, .loops = loops_of<Maximum>()};
constinit const BinaryOperation minimum{.zeros = ZeroLaw::preserves, .loops = loops_of<Minimum>()};
constinit const BinaryOperation equal{.gives_boolean = true, .loops = loops_of<Equal>()};
constinit const BinaryOperation not_equal{
    .gives_boolean = true, .zeros = ZeroLaw::preserves, .loops = loops_of<NotEqual>()};
constinit const BinaryOperation less{
    .gives_boolean = true, .zeros = ZeroLaw::preserves, .loops = loops_of<Less>()};
constinit const BinaryOperation less_equal{.gives_boolean = true, .loops = loops_of<LessEqual>()};
constinit const BinaryOperation greater{
    .gives_boolean = true, .zeros = ZeroLaw::preserves, .loops = loops_of<Greater>()};
constinit const BinaryOperation greater_equal{.gives_boolean = true,
                                              .loops = loops_of<GreaterEqual>()};
constinit const BinaryOperation logical_and{.working = WorkingDType::boolean,
                                            .zeros = ZeroLaw::annihilates,
                                            .loops = loops_of<LogicalAnd>()};
constinit const BinaryOperation logical_or{
    .working = WorkingDType::boolean, .zeros = ZeroLaw::preserves, .loops = loops_of<LogicalOr>()};
/// The derivative of the cross entropy of softmax(x) by x is the prediction less the target.
constinit const BinaryOperation cross_entropy_deriv{
    .working = WorkingDType::floating, .zeros = ZeroLaw::preserves, .loops = loops_of<Sub>()};

}  // namespace operation

namespace {

/// How a pair of layouts is worked on; infer and run must agree on it.
enum class Strategy {
  dense,         // as dense tiles
  merge,         // both sparse: entry by entry
  sample_left,   // a product at the positions that the left operand stores
  sample_right,  // .. the right operand stores
};

Strategy strategy_of(const BinaryOperation& operation, const TileType& a, const TileType& b,
                     const Shape& result) {
  if (operation.zeros == ZeroLaw::none) return Strategy::dense;
  if (a.is_sparse() && b.is_sparse()) return a.shape == b.shape ? Strategy::merge : Strategy::dense;
  if (operation.zeros == ZeroLaw::annihilates) {
    if (a.is_sparse() && a.shape == result) return Strategy::sample_left;
    if (b.is_sparse() && b.shape == result) return Strategy::sample_right;
  }
  return Strategy::dense;
}

Shape common_shape(std::string_view kernel, const TileType& a, const TileType& b) {
  try {
    return broadcast_shapes(a.shape, b.shape);
  } catch (const TypeError&) {
    throw TypeError(
        fmt::format("{}: {} and {} cannot be broadcast together: dimensions must be equal or 1, "
                    "counted from the last one; slice or reshape one of them",
                    kernel, to_string(a), to_string(b)));
  }
}

Tile map_two(Loop loop, DType dtype, const Shape& shape, const Tile& a, const Tile& b) {
  return map_elements(loop, dtype, shape, std::array{a, b});
}

/// The dense result with an exact zero wherever a sparse operand of a product stores nothing.
Tile annihilate(const Tile& product, const Tile& operand) {
  const bool has_nan = is_float(product.dtype());  // only there is 0 * x not always 0
  if (!operand.is_sparse() || !has_nan) return product;
  const Tile mask = structure_of(operand).dense().cast(product.dtype());
  return map_two(loop_for(loops_of<Mask>(), product.dtype()), product.dtype(), product.shape(),
                 mask, product);
}

}  // namespace

TileType infer_binary(std::string_view kernel, const BinaryOperation& operation, const TileType& a,
                      const TileType& b) {
  const Shape shape = common_shape(kernel, a, b);
  const DType working = operation.working_dtype(promote(a.dtype, b.dtype));
  if (loop_for(operation.loops, working) == nullptr)
    throw TypeError(fmt::format(
        "{}: {} and {} are not supported: it is not defined for {}; cast one of them to i64",
        kernel, to_string(a), to_string(b), to_string(working)));
  const Strategy strategy = strategy_of(operation, a, b, shape);
  const int sparse_dims = strategy == Strategy::dense          ? 0
                          : strategy == Strategy::sample_right ? b.sparse_dims
                                                               : a.sparse_dims;
  return {operation.result_dtype(working), shape, sparse_dims};
}

Tile apply(std::string_view kernel, const BinaryOperation& operation, const Tile& a,
           const Tile& b) {
  const DType working = operation.working_dtype(promote(a.dtype(), b.dtype()));
  const DType result = operation.result_dtype(working);
  const Loop loop = loop_for(operation.loops, working);
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  const Tile left = converted(a, working);
  const Tile right = converted(b, working);
  if (operation.is_power && shape.elements() > 0) require_exponents(kernel, right);

  const auto map_values = [&](const Tile& x, const Tile& y) {
    return map_two(loop, result, Shape{x.elements()}, x, y);
  };
  switch (strategy_of(operation, a.type(), b.type(), shape)) {
    case Strategy::dense: {
      Tile dense = map_two(loop, result, shape, left.dense(), right.dense());
      if (operation.zeros != ZeroLaw::annihilates) return dense;
      return annihilate(annihilate(dense, left), right);
    }
    case Strategy::merge: {
      const Tile regrouped = right.with_sparse_dims(left.sparse_dims());
      const Aligned aligned = operation.zeros == ZeroLaw::annihilates
                                  ? align_intersection(left, regrouped)
                                  : align_union(left, regrouped);
      return with_nonzero_values(aligned.structure, map_values(aligned.left, aligned.right));
    }
    case Strategy::sample_left:
      return with_values(left, map_values(stored_values(left), gather(right, left)));
    case Strategy::sample_right:
      return with_values(right, map_values(gather(left, right), stored_values(right)));
  }
  TESSERA_INVARIANT(false, "a strategy for {} and {}", to_string(a.type()), to_string(b.type()));
}

void require_exponents(std::string_view kernel, const Tile& exponents) {
  if (exponents.dtype() != DType::i64) return;
  const Tile dense = exponents.contiguous();
  const std::int64_t* end = dense.data<std::int64_t>() + dense.elements();
  const std::int64_t* negative =
      std::find_if(dense.data<std::int64_t>(), end, [](std::int64_t value) { return value < 0; });
  TESSERA_REQUIRE(ValueError, negative == end,
                  "{}: an integer to the negative power {} is not an integer; cast to f64 first",
                  kernel, negative == end ? 0 : *negative);
}

}  // namespace tessera
