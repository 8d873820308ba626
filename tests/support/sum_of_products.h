#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/reference_kernels.h"
#include "tile/dispatch.h"

namespace tessera {

/// An element of a product as it is summed up, in every kind of arithmetic: i64 wraps around, of
/// bools it is whether some product is true.
class SumOfProducts {
 public:
  void add(const Elements& a, std::int64_t i, const Elements& b, std::int64_t j) {
    integer_ +=
        static_cast<std::uint64_t>(a.integers[i]) * static_cast<std::uint64_t>(b.integers[j]);
    any_ = any_ || (a.integers[i] != 0 && b.integers[j] != 0);
    real_ += static_cast<long double>(a.reals[i]) * b.reals[j];
    magnitudes_ += std::abs(a.reals[i] * b.reals[j]);
    ++terms_;
  }

  /// As `add`, but what is not stored annihilates, even NaN and infinity.
  void add_stored(const Elements& a, std::int64_t i, const Elements& b, std::int64_t j) {
    if (a.stored[i] != 0 && b.stored[j] != 0) add(a, i, b, j);
  }

  /// Puts the sum at the next position, with the rounding error that any order of additions may
  /// have: the number of terms times the sum of their magnitudes.
  void put(Expected& result, std::int64_t position, bool unsettled = false) const {
    Elements& values = result.values;
    if (!is_float(values.dtype)) {
      values.set_integer(position, values.dtype == DType::boolean
                                       ? std::int64_t{any_}
                                       : static_cast<std::int64_t>(integer_));
      return;
    }
    values.set_real(position, static_cast<double>(real_));
    const double bound = epsilon_of(values.dtype) * static_cast<double>(terms_ + 2) * magnitudes_;
    result.tolerances.resize(values.size());
    result.tolerances[position] = unsettled              ? std::numeric_limits<double>::infinity()
                                  : std::isfinite(bound) ? bound
                                                         : 0;
  }

 private:
  std::uint64_t integer_ = 0;
  bool any_ = false;
  long double real_ = 0;
  double magnitudes_ = 0;
  std::int64_t terms_ = 0;
};

}  // namespace tessera
