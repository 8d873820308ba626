#pragma once

#include <cstdint>

#include "tessera/tile.h"

namespace tessera {

/// A number that two tiles share if they are of one type and have the same bits, and otherwise only
/// by chance; whether they are views does not matter. It is computed once for a tile.
std::uint64_t hash_of(const Tile& tile);

}  // namespace tessera
