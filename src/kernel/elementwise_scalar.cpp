#include <array>
#include <utility>

#include "kernel/arguments.h"
#include "kernel/binary_operation.h"
#include "kernel/builtin.h"
#include "kernel/claims.h"
#include "kernel/sparse_merge.h"
#include "tile/convert.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

/// A binary operation with one operand fixed to a number.
struct ScalarCall {
  const BinaryOperation& operation;
  DType working;
  Tile scalar;  // of the working dtype
  bool scalar_is_left;

  DType result_dtype() const { return operation.result_dtype(working); }
  Tile map(const Tile& dense) const {
    const std::array operands =
        scalar_is_left ? std::array{scalar, dense} : std::array{dense, scalar};
    return map_elements(loop_for(operation.loops, working), result_dtype(), dense.shape(),
                        operands);
  }
  /// Whether what a sparse tile does not store stays zero.
  bool keeps_zeros() const {
    if (operation.zeros == ZeroLaw::annihilates) return true;
    return !map(Tile::zeros(working, {})).at<bool>({});
  }
};

/// The scalar is weak, as in NumPy: it decides the kind of number, the tile decides its width.
DType weak_promote(DType tile, bool scalar_is_integer) {
  if (is_float(tile)) return tile;
  return scalar_is_integer ? DType::i64 : DType::f64;
}

ScalarCall bind_scalar(const std::string& kernel, const BinaryOperation& operation, DType tile,
                       const Params& params) {
  const ParamValue& value = params.values().at("value");
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  TESSERA_REQUIRE(TypeError, integer != nullptr || real != nullptr,
                  "{}: parameter 'value' must be a number", kernel);
  const DType working = operation.working_dtype(weak_promote(tile, integer != nullptr));
  const Tile scalar = visit_dtype(working, [&]<class T>() {
    return Tile::scalar(integer != nullptr ? convert<T>(*integer) : convert<T>(*real));
  });
  const bool left = params.flag("left");
  if (operation.is_power && !left) require_exponents(kernel, scalar);
  return {operation, working, scalar, left};
}

Tile run_scalar(const std::string& kernel, const BinaryOperation& operation, const Tile& tile,
                const Params& params) {
  const ScalarCall call = bind_scalar(kernel, operation, tile.dtype(), params);
  const Tile operand = converted(tile, call.working);
  if (operation.is_power && call.scalar_is_left) require_exponents(kernel, operand);
  if (operand.is_sparse() && call.keeps_zeros())
    return with_values(operand, call.map(stored_values(operand)));
  return call.map(operand.dense());
}

TileType infer_scalar(const std::string& kernel, const BinaryOperation& operation,
                      const TileType& type, const Params& params) {
  const ScalarCall call = bind_scalar(kernel, operation, type.dtype, params);
  const bool sparse = type.is_sparse() && call.keeps_zeros();
  return {call.result_dtype(), type.shape, sparse ? type.sparse_dims : 0};
}

Kernel scalar_kernel(const std::string& name, const BinaryOperation& operation,
                     const char* description, void (*claim)(Properties&) = claim_nothing) {
  Properties properties;
  claim(properties);
  properties.elementwise = true;
  properties.zero_preserving = operation.zeros == ZeroLaw::annihilates;
  const auto run = [name, &operation](Tiles tiles, const Params& params) {
    return std::vector{run_scalar(name, operation, tiles[0], params)};
  };
  return {
      .name = name,
      .description = description,
      .parameters = {{"value", std::nullopt, "the number v"},
                     {"left", false, "whether v is the left operand"}},
      .properties = std::move(properties),
      .infer =
          [name, &operation](Types types, const Params& params) {
            return std::vector{infer_scalar(name, operation, types[0], params)};
          },
      .cost =
          [name, &operation](Types types, const Params& params) {
            const TileType result = infer_scalar(name, operation, types[0], params);
            return Cost{static_cast<double>(result.shape.elements()),
                        dense_bytes(types[0]) + dense_bytes(result)};
          },
      .implementations = {{.name = "stored_values", .layouts = {LayoutPattern::sparse}, .run = run},
                          {.name = "strided_loop", .run = run}}};
}

}  // namespace

std::vector<Kernel> scalar_kernels() {
  return {
      scalar_kernel("add_scalar", operation::add, "a + v", claim_monotone),
      scalar_kernel("sub_scalar", operation::sub, "a - v"),
      scalar_kernel("mul_scalar", operation::mul, "a * v",
                    [](Properties& f) {
                      f.linear_in = {0};
                      f.distributes_over = {{"add", 0}, {"sub", 0}};
                    }),
      scalar_kernel("div_scalar", operation::div, "a / v as floats"),
      scalar_kernel("power_scalar", operation::power,
                    "a to the power v; integers wrap around and take no negative powers"),
      scalar_kernel("maximum_scalar", operation::maximum, "the larger of a and v; NaN wins",
                    claim_monotone),
      scalar_kernel("minimum_scalar", operation::minimum, "the smaller of a and v; NaN wins",
                    claim_monotone),
      scalar_kernel("equal_scalar", operation::equal, "whether a = v"),
      scalar_kernel("not_equal_scalar", operation::not_equal, "whether a and v differ"),
      scalar_kernel("less_scalar", operation::less, "whether a < v"),
      scalar_kernel("less_equal_scalar", operation::less_equal, "whether a <= v"),
      scalar_kernel("greater_scalar", operation::greater, "whether a > v"),
      scalar_kernel("greater_equal_scalar", operation::greater_equal, "whether a >= v"),
  };
}

}  // namespace tessera
