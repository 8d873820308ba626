#pragma once

#include <string>

#include "tessera/tile.h"

// Tensors as text.

namespace tessera::display {

std::string type_text(const TileType& type);  // "MATRIX[1000][1000]"

/// The first elements, on one line: "[[0.1 0.2 0.3 …] [0.5 0.6 0.7 …] …]". All of a small tensor.
std::string corner_text(const Tile& tile);

}  // namespace tessera::display
