#pragma once

#include <string>

#include "tessera/session.h"

// Tensors as text.

namespace tessera::display {

std::string type_text(const TileType& type);  // "MATRIX[1000][1000]"

/// The first elements, on one line: "[[0.1 0.2 0.3 …] [0.5 0.6 0.7 …] …]". All of a small tensor.
std::string corner_text(const Tile& tile);

/// All elements of a whole tensor, or its ends if it is large, as NumPy prints arrays. Only the
/// tiles are read that hold what is shown.
std::string elements_text(const ResultTensor& tensor);

}  // namespace tessera::display
