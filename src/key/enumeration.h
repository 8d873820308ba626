#pragma once

#include "tessera/key.h"

namespace tessera {

/// More points than these are never enumerated, whatever limit is asked for.
inline constexpr std::int64_t maximum_enumeration = 1ll << 31;

/// Decides closedness exactly, by evaluating filter and map at every point of the box.
Closedness enumerate_closedness(const KeySet& keys);

}  // namespace tessera
