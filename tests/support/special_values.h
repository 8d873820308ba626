#pragma once

#include <cstdint>
#include <limits>

#include "tessera/tile.h"

namespace tessera {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
inline constexpr DType dtypes[] = {DType::f32, DType::f64, DType::i64, DType::boolean};

}  // namespace tessera
