#include <array>
#include <utility>

#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/claims.h"
#include "kernel/elementwise_loops.h"
#include "kernel/form/operations.h"
#include "kernel/form/working_dtype.h"
#include "kernel/softmax.h"
#include "kernel/sparse_merge.h"

namespace tessera {
namespace {

/// A function of one number.
struct UnaryOperation {
  WorkingDType working = WorkingDType::promoted;
  bool keeps_zero = false;  // f(0) = 0: a sparse tile keeps its structure
  double flops = 1;         // an element
  Loops loops = {};
};

TileType infer_unary(const std::string& kernel, const UnaryOperation& operation,
                     const TileType& type) {
  const DType dtype = working_dtype(operation.working, type.dtype);
  if (loop_for(operation.loops, dtype) == nullptr)
    throw TypeError(fmt::format(
        "{}: {} is not supported: it is not defined for {}; cast it to i64, or use logical_not",
        kernel, to_string(type), to_string(dtype)));
  return {dtype, type.shape, operation.keeps_zero ? type.sparse_dims : 0};
}

Tile apply_unary(const UnaryOperation& operation, const Tile& tile) {
  const DType dtype = working_dtype(operation.working, tile.dtype());
  const Tile operand = converted(tile, dtype);
  const auto map = [&](const Tile& dense) {
    return map_elements(loop_for(operation.loops, dtype), dtype, dense.shape(), std::array{dense});
  };
  if (operand.is_sparse() && operation.keeps_zero)
    return with_values(operand, map(stored_values(operand)));
  return map(operand.dense());
}

Kernel unary_kernel(const std::string& name, const UnaryOperation& operation,
                    const char* description, void (*claim)(Properties&) = claim_nothing,
                    std::vector<std::string> aliases = {}) {
  Properties properties;
  claim(properties);
  properties.elementwise = true;
  properties.zero_preserving = operation.keeps_zero;
  const auto run = [operation](Tiles tiles, const Params&) {
    return std::vector{apply_unary(operation, tiles[0])};
  };
  std::vector<Implementation> implementations = {{.name = "strided_loop", .run = run}};
  if (operation.keeps_zero)
    implementations.insert(
        implementations.begin(),
        {.name = "stored_values", .layouts = {LayoutPattern::sparse}, .run = run});
  return {.name = name,
          .description = description,
          .properties = std::move(properties),
          .infer =
              [name, operation](Types types, const Params&) {
                return std::vector{infer_unary(name, operation, types[0])};
              },
          .cost =
              [name, operation](Types types, const Params&) {
                const TileType result = infer_unary(name, operation, types[0]);
                return Cost{operation.flops * static_cast<double>(result.shape.elements()),
                            dense_bytes(types[0]) + dense_bytes(result)};
              },
          .implementations = std::move(implementations),
          .aliases = std::move(aliases)};
}

constexpr double exponential_flops = 20;

Kernel softmax_kernel() {
  const auto infer = [](const TileType& type) {
    if (type.shape.rank() == 0)
      throw TypeError(
          fmt::format("softmax: {} is not supported: a scalar has no last dimension; reshape it",
                      to_string(type)));
    return TileType{float_of(type.dtype), type.shape};
  };
  return {.name = "softmax",
          .description = "exp(a) over its sum along the last dimension",
          .infer = [infer](Types types, const Params&) { return std::vector{infer(types[0])}; },
          .cost =
              [infer](Types types, const Params&) {
                const TileType result = infer(types[0]);
                return Cost{exponential_flops * static_cast<double>(result.shape.elements()),
                            dense_bytes(types[0]) + dense_bytes(result)};
              },
          .implementations = {{.name = "row_softmax",
                               .layouts = {LayoutPattern::dense},
                               .run =
                                   [](Tiles tiles, const Params&) {
                                     const DType dtype = float_of(tiles[0].dtype());
                                     return std::vector{row_softmax(tiles[0].cast(dtype))};
                                   }}},
          .aliases = {"rowSoftmax", "row_softmax"}};
}

std::vector<Kernel> algebraic() {
  return {
      unary_kernel("neg", {.keeps_zero = true, .loops = loops_of<Neg>()}, "-a",
                   [](Properties& f) {
                     f.linear_in = {0};
                     f.distributes_over = {{"add", 0}, {"sub", 0}};
                   }),
      unary_kernel("abs", {.keeps_zero = true, .loops = loops_of<Abs>()},
                   "a without its sign; the least i64 stays itself"),
      unary_kernel(
          "square",
          {.working = WorkingDType::number, .keeps_zero = true, .loops = loops_of<Square>()},
          "a * a"),
      unary_kernel("relu", {.keeps_zero = true, .loops = loops_of<Relu>()},
                   "a where it is positive, else 0; NaN stays", claim_monotone),
      unary_kernel("relu_deriv", {.keeps_zero = true, .loops = loops_of<ReluDeriv>()},
                   "1 where a is positive, else 0", claim_monotone, {"reluDeriv"}),
      unary_kernel("logical_not",
                   {.working = WorkingDType::boolean, .loops = loops_of<LogicalNot>()},
                   "whether a is zero"),
  };
}

std::vector<Kernel> transcendental() {
  const auto floating = [](bool keeps_zero, const Loops& loops) {
    return UnaryOperation{.working = WorkingDType::floating,
                          .keeps_zero = keeps_zero,
                          .flops = exponential_flops,
                          .loops = loops};
  };
  return {
      unary_kernel("exp", floating(false, loops_of<Exp>()), "e to the power a"),
      unary_kernel("log", floating(false, loops_of<Log>()), "the natural logarithm of a"),
      unary_kernel("sqrt", floating(true, loops_of<Sqrt>()), "the square root of a"),
      unary_kernel("sigmoid", floating(false, loops_of<Sigmoid>()), "1 / (1 + exp(-a))"),
      unary_kernel("tanh", floating(true, loops_of<Tanh>()), "the hyperbolic tangent of a"),
      softmax_kernel(),
  };
}

}  // namespace

std::vector<Kernel> unary_kernels() {
  std::vector<Kernel> kernels = algebraic();
  for (Kernel& kernel : transcendental()) kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace tessera
