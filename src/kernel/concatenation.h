#pragma once

#include <cstdint>
#include <span>

#include "tessera/tile.h"

namespace tessera {

/// The parts side by side along an axis, and the whole row of them `times` times over. The parts
/// have one dtype and, but for the axis, one shape. If all are sparse, so is the result, with as
/// many sparse dimensions as the first; entries that hold a zero stay stored.
Tile concatenate(std::span<const Tile> parts, int axis, std::int64_t times = 1);

}  // namespace tessera
