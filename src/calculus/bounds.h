#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/form/term.h"

namespace tessera::calculus {

/// Between which integers the value of a term lies, both included.
struct Bounds {
  std::int64_t low = 0, high = 0;
};

/// Of an integer term whose indices run from 0 to less than their extents; nothing if it reads
/// elements, or may leave 62 bits.
std::optional<Bounds> bounds_of(const Term& term, const std::vector<std::int64_t>& extents);

/// Whether a condition holds at all positions, or at none; nothing if that is not seen.
std::optional<bool> decided(const Term& condition, const std::vector<std::int64_t>& extents);

}  // namespace tessera::calculus
