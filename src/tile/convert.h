#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace tessera {

/// A number as another dtype. Everything but zero is true; a float that no i64 holds (NaN too)
/// becomes the least i64, as x86 converts, so that the result is never undefined.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return !(value == From{});
  } else if constexpr (std::is_same_v<To, std::int64_t> && std::is_floating_point_v<From>) {
    constexpr From limit = static_cast<From>(9223372036854775808.0);
    const bool fits = value >= -limit && value < limit;
    return fits ? static_cast<std::int64_t>(value) : std::numeric_limits<std::int64_t>::min();
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace tessera
