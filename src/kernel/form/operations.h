#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tessera {

// The functions of one or two numbers that elementwise kernels apply. A function that a dtype
// does not have (the difference of booleans) is not callable with it.

template <class T>
inline constexpr bool is_boolean = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_integer = std::is_same_v<T, std::int64_t>;
template <class T>
concept Boolean = is_boolean<T>;
template <class T>
concept Number = !is_boolean<T>;
template <class T>
concept Floating = std::is_floating_point_v<T>;

/// i64 arithmetic wraps around. Unsigned arithmetic is where C++ defines it so.
inline std::uint64_t unsigned_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }
inline std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (is_boolean<T>)
      return a | b;
    else if constexpr (is_integer<T>)
      return wrapped(unsigned_of(a) + unsigned_of(b));
    else
      return a + b;
  }
};

struct Sub {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (is_integer<T>)
      return wrapped(unsigned_of(a) - unsigned_of(b));
    else
      return a - b;
  }
};

struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (is_boolean<T>)
      return a & b;
    else if constexpr (is_integer<T>)
      return wrapped(unsigned_of(a) * unsigned_of(b));
    else
      return a * b;
  }
};

struct Div {
  template <Floating T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

/// Python's remainder: it has the sign of the divisor. Of an integer by 0 it is 0, as in NumPy.
struct Remainder {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (is_integer<T>) {
      if (b == 0 || b == -1) return 0;
      const T rest = a % b;
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      const T rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(rest, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    }
  }
};

/// Rounded towards minus infinity. An integer by 0 is 0, as in NumPy.
struct FloorDivide {
  template <Number T>
  T operator()(T a, T b) const {
    if constexpr (is_integer<T>) {
      if (b == 0) return 0;
      if (b == -1) return wrapped(-unsigned_of(a));
      return (a - Remainder()(a, b)) / b;
    } else {
      const T ratio = (a - Remainder()(a, b)) / b;  // whole, but for rounding
      const T whole = std::floor(ratio);
      return ratio - whole > T(0.5) ? whole + 1 : whole;
    }
  }
};

/// Integer exponents are not negative: that is checked before the loop.
struct Power {
  template <Number T>
  T operator()(T base, T exponent) const {
    if constexpr (is_integer<T>) {
      std::uint64_t result = 1;
      std::uint64_t square = unsigned_of(base);
      for (std::uint64_t bits = unsigned_of(exponent); bits != 0; bits >>= 1U) {
        if ((bits & 1U) != 0) result *= square;
        square *= square;
      }
      return wrapped(result);
    } else {
      return std::pow(base, exponent);
    }
  }
};

/// NaN wins, whichever side it is on. Two selections in a row have vector instructions, where a
/// disjunction of comparisons has branches.
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    const T larger = a > b ? a : b;
    return is_nan(a) ? a : larger;
  }
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    const T smaller = a < b ? a : b;
    return is_nan(a) ? a : smaller;
  }
};

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};

struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};

struct GreaterEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

struct LogicalAnd {
  template <Boolean T>
  T operator()(T a, T b) const {
    return a & b;
  }
};

struct LogicalOr {
  template <Boolean T>
  T operator()(T a, T b) const {
    return a | b;
  }
};

/// The second operand where the first is not zero: an exact zero elsewhere, even against NaN.
struct Mask {
  template <class T>
  T operator()(T mask, T value) const {
    return mask != T{} ? value : T{};
  }
};

struct Neg {
  template <Number T>
  T operator()(T a) const {
    if constexpr (is_integer<T>)
      return wrapped(-unsigned_of(a));
    else
      return -a;
  }
};

struct Abs {
  template <class T>
  T operator()(T a) const {
    if constexpr (is_boolean<T>)
      return a;
    else if constexpr (is_integer<T>)
      return a < 0 ? Neg()(a) : a;
    else
      return std::fabs(a);
  }
};

struct Square {
  template <Number T>
  T operator()(T a) const {
    return Mul()(a, a);
  }
};

struct Relu {
  template <class T>
  T operator()(T a) const {
    const T positive = a > T{} ? a : T{};
    return is_nan(a) ? a : positive;
  }
};

struct ReluDeriv {
  template <class T>
  T operator()(T a) const {
    return a > T{} ? T{1} : T{0};
  }
};

struct LogicalNot {
  template <Boolean T>
  T operator()(T a) const {
    return !a;
  }
};

struct Exp {
  template <Floating T>
  T operator()(T a) const {
    return std::exp(a);
  }
};

struct Log {
  template <Floating T>
  T operator()(T a) const {
    return std::log(a);
  }
};

struct Sqrt {
  template <Floating T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};

struct Tanh {
  template <Floating T>
  T operator()(T a) const {
    return std::tanh(a);
  }
};

/// 1 / (1 + exp(-a)), in the form whose exponential does not overflow and whose small results
/// keep their digits.
struct Sigmoid {
  template <Floating T>
  T operator()(T a) const {
    const T e = std::exp(-std::fabs(a));
    return (a < 0 ? e : T{1}) / (T{1} + e);
  }
};

}  // namespace tessera
