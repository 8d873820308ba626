#pragma once

#include <cstdint>
#include <string_view>

#include "kernel/elementwise_loops.h"
#include "kernel/form/working_dtype.h"
#include "tessera/kernel.h"

namespace tessera {

/// What f does to zeros decides the layout of its result on sparse operands.
enum class ZeroLaw {
  none,         // f(0, 0) is not 0: the result is dense
  preserves,    // f(0, 0) = 0: the result stores what either operand stores
  annihilates,  // f(0, x) = f(x, 0) = 0: the result stores what both store. A product; a position
                // that is not stored yields an exact zero even against NaN
};

/// A function of two numbers, as kernels on two tiles and on a tile and a scalar both use it.
struct BinaryOperation {
  WorkingDType working = WorkingDType::promoted;
  bool gives_boolean = false;
  ZeroLaw zeros = ZeroLaw::none;
  Loops loops = {};
  /// Whether the right operand must not be negative where it is an integer.
  bool is_power = false;

  DType working_dtype(DType promoted) const { return tessera::working_dtype(working, promoted); }
  DType result_dtype(DType working_dtype) const {
    return gives_boolean ? DType::boolean : working_dtype;
  }
};

namespace operation {
extern const BinaryOperation add, sub, mul, div, power, maximum, minimum;
extern const BinaryOperation equal, not_equal, less, less_equal, greater, greater_equal;
extern const BinaryOperation logical_and, logical_or, cross_entropy_deriv;
}  // namespace operation

/// The type of `apply` on tiles of these types; TypeError if they do not fit.
TileType infer_binary(std::string_view kernel, const BinaryOperation& operation, const TileType& a,
                      const TileType& b);
/// f(a, b) with NumPy's broadcasting and promotion.
Tile apply(std::string_view kernel, const BinaryOperation& operation, const Tile& a, const Tile& b);

/// ValueError if an i64 tile of exponents holds a negative one.
void require_exponents(std::string_view kernel, const Tile& exponents);

}  // namespace tessera
