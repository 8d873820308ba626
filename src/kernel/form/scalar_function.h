#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernel/form/scalar.h"
#include "kernel/form/working_dtype.h"

namespace tessera {

/// A function of one or two numbers. The kernel of the same name applies it to whole tiles.
struct ScalarFunction {
  std::string_view name;
  int arguments = 1;
  WorkingDType working = WorkingDType::promoted;
  bool gives_boolean = false;
  double flops = 1;
  /// By dtype, in the order of DType; null where the function is not defined.
  using Evaluate = Scalar (*)(const Scalar* arguments);
  Evaluate evaluate[4] = {};

  /// The dtype that its arguments are converted to; TypeError if it is not defined for them.
  DType working_dtype(std::span<const DType> arguments) const;
  DType result_dtype(DType in) const { return gives_boolean ? DType::boolean : in; }
};

/// Null if there is none of this name.
const ScalarFunction* scalar_function(std::string_view name);
std::vector<std::string_view> scalar_function_names();

/// How values are folded into one: an associative and commutative function and what it begins with.
enum class Monoid { sum, product, min, max, all, any, argmin, argmax };

std::string_view to_string(Monoid monoid);
std::optional<Monoid> monoid_named(std::string_view name);
/// Of a fold over values of this dtype: sums and products of booleans count in integers; argmin and
/// argmax give positions.
DType folded_dtype(Monoid monoid, DType values);
/// The dtype that it is folded in: sums and products of f32 have the digits of f64 on the way.
/// argmin and argmax compare values.
DType state_dtype(Monoid monoid, DType values);
/// The name of the function that combines two values; of argmin and argmax, the better of them.
std::string_view combination_of(Monoid monoid);
inline bool gives_position(Monoid monoid) {
  return monoid == Monoid::argmin || monoid == Monoid::argmax;
}
/// What a fold over nothing gives. An extreme of no integers is the least or greatest one; a
/// position among none is -1.
Scalar identity_of(Monoid monoid, DType folded);

}  // namespace tessera
