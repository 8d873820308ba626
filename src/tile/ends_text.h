#pragma once

#include <string>

#include "tessera/tile.h"

// Tensors that are too large to be printed whole are printed by their ends, as NumPy does.

namespace tessera {

/// A tensor of more elements than this is printed by its ends.
inline constexpr std::int64_t most_printed_whole = 1000;
/// Of a dimension, how many positions are printed at each end.
inline constexpr std::int64_t end_positions = 3;

/// The text of a large dense tensor of which only the ends are here: where a dimension is longer
/// than both ends, all that is between them is one position here, which is not looked at.
std::string ends_text(const Tile& ends);

}  // namespace tessera
