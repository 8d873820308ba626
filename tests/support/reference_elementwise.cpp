#include <cmath>
#include <cstdint>

#include "base/check.h"
#include "support/reference_kernels.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

using Wide = std::uint64_t;  // where i64 wraps around

enum class Working { promoted, number, floating, boolean };

DType working_in(Working rule, DType dtype) {
  if (rule == Working::boolean) return DType::boolean;
  if (rule == Working::floating) return dtype == DType::f32 ? DType::f32 : DType::f64;
  return rule == Working::number && dtype == DType::boolean ? DType::i64 : dtype;
}

/// A function of one or two numbers in each kind of arithmetic; where there is none, null. A
/// function of one number ignores the second.
struct Function {
  Working working = Working::promoted;
  double (*on_reals)(double, double) = nullptr;
  std::int64_t (*on_integers)(std::int64_t, std::int64_t) = nullptr;
  std::int64_t (*on_booleans)(std::int64_t, std::int64_t) = nullptr;
  bool gives_boolean = false;
  bool is_product = false;  // what is not stored annihilates
  double ulps = 0;          // how far the float function may be off
};

std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  TESSERA_REQUIRE(ValueError, exponent >= 0, "negative power");
  Wide result = 1;
  Wide square = static_cast<Wide>(base);
  for (; exponent > 0; exponent /= 2, square *= square)
    if (exponent % 2 == 1) result *= square;
  return static_cast<std::int64_t>(result);
}

template <class T>
T larger(T a, T b) {
  return a != a || a > b ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a != a || a < b ? a : b;
}

template <class Compare>
Function comparison() {
  constexpr auto compare = [](std::int64_t a, std::int64_t b) -> std::int64_t {
    return Compare()(a, b) ? 1 : 0;
  };
  return {.on_reals = [](double a, double b) -> double { return Compare()(a, b) ? 1 : 0; },
          .on_integers = compare,
          .on_booleans = compare,
          .gives_boolean = true};
}

const Function add{
    .on_reals = [](double a, double b) { return a + b; },
    .on_integers = [](std::int64_t a,
                      std::int64_t b) { return static_cast<std::int64_t>(Wide(a) + Wide(b)); },
    .on_booleans = [](std::int64_t a, std::int64_t b) { return a | b; }};
const Function sub{
    .on_reals = [](double a, double b) { return a - b; },
    .on_integers = [](std::int64_t a,
                      std::int64_t b) { return static_cast<std::int64_t>(Wide(a) - Wide(b)); }};
const Function mul{
    .on_reals = [](double a, double b) { return a * b; },
    .on_integers = [](std::int64_t a,
                      std::int64_t b) { return static_cast<std::int64_t>(Wide(a) * Wide(b)); },
    .on_booleans = [](std::int64_t a, std::int64_t b) { return a & b; },
    .is_product = true};
const Function quotient{.working = Working::floating,
                        .on_reals = [](double a, double b) { return a / b; }};
const Function power{.working = Working::number,
                     .on_reals = [](double a, double b) { return std::pow(a, b); },
                     .on_integers = integer_power,
                     .ulps = 4};
const Function maximum{.on_reals = larger, .on_integers = larger, .on_booleans = larger};
const Function minimum{.on_reals = smaller, .on_integers = smaller, .on_booleans = smaller};
const Function logical_and{.working = Working::boolean,
                           .on_booleans = [](std::int64_t a, std::int64_t b) { return a & b; },
                           .is_product = true};
const Function logical_or{.working = Working::boolean,
                          .on_booleans = [](std::int64_t a, std::int64_t b) { return a | b; }};
const Function float_difference{.working = Working::floating,
                                .on_reals = [](double a, double b) { return a - b; }};

/// f of two tiles of the working dtype that broadcast to `shape`.
Expected map(const Function& f, DType working, const Shape& shape, const Elements& a,
             const Elements& b) {
  const bool defined = working == DType::boolean ? f.on_booleans != nullptr
                       : working == DType::i64   ? f.on_integers != nullptr
                                                 : f.on_reals != nullptr;
  TESSERA_REQUIRE(TypeError, defined, "not defined on this dtype");
  Expected result{Elements(f.gives_boolean ? DType::boolean : working, shape)};
  Elements& values = result.values;
  for (std::int64_t k = 0; k < values.size(); ++k) {
    const Index index = index_of(k, shape);
    const std::int64_t i = broadcast_position(index, a.shape);
    const std::int64_t j = broadcast_position(index, b.shape);
    if (f.is_product && (a.stored[i] == 0 || b.stored[j] == 0)) continue;  // an exact zero
    if (working == DType::boolean)
      values.set_integer(k, f.on_booleans(a.integers[i], b.integers[j]));
    else if (working == DType::i64)
      values.set_integer(k, f.on_integers(a.integers[i], b.integers[j]));
    else if (f.gives_boolean)
      values.set_integer(k, f.on_reals(a.reals[i], b.reals[j]) != 0 ? 1 : 0);
    else
      values.set_real(k, f.on_reals(a.reals[i], b.reals[j]));
  }
  if (f.ulps > 0 && is_float(working))
    for (double value : values.reals)
      result.tolerances.push_back(
          std::isfinite(value) ? f.ulps * epsilon_of(working) * std::abs(value) : 0);
  return result;
}

Reference binary(const Function& f) {
  return [f](const Arguments& arguments, const Params&) {
    const Elements& a = arguments[0];
    const Elements& b = arguments[1];
    const DType working = working_in(f.working, promote(a.dtype, b.dtype));
    return equals(map(f, working, broadcast_shapes(a.shape, b.shape), converted(a, working),
                      converted(b, working)));
  };
}

/// The scalar decides the kind of number and the tile its width, as in NumPy.
Reference with_scalar(const Function& f) {
  return [f](const Arguments& arguments, const Params& params) {
    const ParamValue& value = params.values().at("value");
    const auto* integer = std::get_if<std::int64_t>(&value);
    Elements scalar(integer != nullptr ? DType::i64 : DType::f64, {});
    if (integer != nullptr)
      scalar.set_integer(0, *integer);
    else
      scalar.set_real(0, params.number("value"));
    const Elements& a = arguments[0];
    const DType working = working_in(f.working, is_float(a.dtype) ? a.dtype : scalar.dtype);
    const Elements tile = converted(a, working);
    const Elements number = converted(scalar, working);
    const bool left = params.flag("left");
    // A negative power is refused even if there is nothing to raise to it.
    if (f.on_integers == integer_power && working == DType::i64 && !left)
      integer_power(0, number.integers[0]);
    return equals(left ? map(f, working, a.shape, number, tile)
                       : map(f, working, a.shape, tile, number));
  };
}

Reference unary(const Function& f) {
  return [f](const Arguments& arguments, const Params&) {
    const DType working = working_in(f.working, arguments[0].dtype);
    const Elements a = converted(arguments[0], working);
    return equals(map(f, working, a.shape, a, a));
  };
}

/// A float function that a C library gives to within a few units in the last place.
template <double (*f)(double)>
Function library_function(double ulps) {
  return {.working = Working::floating,
          .on_reals = [](double a, double) { return f(a); },
          .ulps = ulps};
}

double logistic(double a) { return 1 / (1 + std::exp(-a)); }

Judge softmax(const Arguments& arguments, const Params&) {
  const DType dtype = working_in(Working::floating, arguments[0].dtype);
  const Elements a = converted(arguments[0], dtype);
  TESSERA_REQUIRE(TypeError, a.shape.rank() > 0, "softmax of a scalar");
  Expected result{Elements(dtype, a.shape), std::vector<double>(a.reals.size())};
  const std::int64_t length = a.shape.back();
  for (std::int64_t start = 0; start < a.size(); start += length) {
    double highest = a.reals[start];
    for (std::int64_t i = 0; i < length; ++i) highest = larger(highest, a.reals[start + i]);
    double total = 0;
    for (std::int64_t i = 0; i < length; ++i) total += std::exp(a.reals[start + i] - highest);
    for (std::int64_t i = start; i < start + length; ++i) {
      const double below = a.reals[i] - highest;
      const double value = std::exp(below) / total;
      result.values.set_real(i, value);
      // exp turns the rounding of its argument, relative to it, into a relative error of its own.
      result.tolerances[i] =
          value > 0 ? epsilon_of(dtype) * (8 + static_cast<double>(length) - below) * value : 0;
    }
  }
  return equals(std::move(result));
}

References unary_references() {
  return {
      {"neg",
       unary({.on_reals = [](double a, double) { return -a; },
              .on_integers = [](std::int64_t a,
                                std::int64_t) { return static_cast<std::int64_t>(-Wide(a)); }})},
      {"abs", unary({.on_reals = [](double a, double) { return std::fabs(a); },
                     .on_integers =
                         [](std::int64_t a, std::int64_t) {
                           return a < 0 ? static_cast<std::int64_t>(-Wide(a)) : a;
                         },
                     .on_booleans = [](std::int64_t a, std::int64_t) { return a; }})},
      {"square", unary({.working = Working::number,
                        .on_reals = [](double a, double) { return a * a; },
                        .on_integers =
                            [](std::int64_t a, std::int64_t) {
                              return static_cast<std::int64_t>(Wide(a) * Wide(a));
                            }})},
      {"relu", unary({.on_reals = [](double a, double) { return larger(a, 0.0); },
                      .on_integers = [](std::int64_t a, std::int64_t) { return a > 0 ? a : 0; },
                      .on_booleans = [](std::int64_t a, std::int64_t) { return a; }})},
      {"relu_deriv",
       unary({.on_reals = [](double a, double) { return a > 0 ? 1.0 : 0.0; },
              .on_integers = [](std::int64_t a, std::int64_t) -> std::int64_t { return a > 0; },
              .on_booleans = [](std::int64_t a, std::int64_t) { return a; }})},
      {"logical_not", unary({.working = Working::boolean,
                             .on_booleans = [](std::int64_t a, std::int64_t) { return 1 - a; }})},
      {"exp", unary(library_function<std::exp>(4))},
      {"log", unary(library_function<std::log>(4))},
      {"sqrt", unary(library_function<std::sqrt>(0))},
      {"tanh", unary(library_function<std::tanh>(4))},
      {"sigmoid", unary(library_function<logistic>(8))},
      {"softmax", softmax},
  };
}

}  // namespace

References elementwise_references() {
  const std::map<std::string, Function> with_scalar_form = {
      {"add", add},
      {"sub", sub},
      {"mul", mul},
      {"div", quotient},
      {"power", power},
      {"maximum", maximum},
      {"minimum", minimum},
      {"equal", comparison<std::equal_to<>>()},
      {"not_equal", comparison<std::not_equal_to<>>()},
      {"less", comparison<std::less<>>()},
      {"less_equal", comparison<std::less_equal<>>()},
      {"greater", comparison<std::greater<>>()},
      {"greater_equal", comparison<std::greater_equal<>>()},
  };
  References result = unary_references();
  for (const auto& [name, function] : with_scalar_form) {
    result[name] = binary(function);
    result[name + "_scalar"] = with_scalar(function);
  }
  result["logical_and"] = binary(logical_and);
  result["logical_or"] = binary(logical_or);
  result["cross_entropy_deriv"] = binary(float_difference);
  return result;
}

}  // namespace tessera
