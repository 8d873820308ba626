#pragma once

#include <iosfwd>
#include <string>

#include "tessera/tile.h"

// Numbers and tensors as text.

namespace tessera::shell {

std::string type_text(const TileType& type);  // "MATRIX[1000][1000]"

/// The first elements, on one line: "[[0.1 0.2 0.3 …] [0.5 0.6 0.7 …] …]". All of a small tensor.
std::string corner_text(const Tile& tile);

/// As JSON: nested arrays. Numbers read back as what they were, but for those that JSON does not
/// have: NaN and infinity are null.
void write_json(std::ostream& out, const Tile& tile);

}  // namespace tessera::shell
