#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tessera/tile.h"

namespace tessera {

// What is wrong with a tile that somebody else has written, as a phrase for people; empty if
// nothing is. Kernels trust the tiles that they get: what comes from a file is looked at here once,
// in one pass over its memory, before it is a tile.

/// Of a type: its extents, its sparse dimensions, and whether its elements can be counted.
std::string flaw_of(const TileType& type);
/// Of the arrays of a sparse tile, whose type has no flaw: offsets that begin at 0, never fall and
/// end with the number of entries; coordinates within the extent, increasing within a row.
std::string flaw_of_entries(const TileType& type, std::span<const std::int64_t> offsets,
                            std::span<const std::int64_t> coordinates);
/// Of the elements of a dense boolean tile, each a byte that is 0 or 1.
std::string flaw_of_booleans(std::span<const std::byte> elements);

}  // namespace tessera
