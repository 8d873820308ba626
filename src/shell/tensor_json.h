#pragma once

#include <iosfwd>

#include "tessera/tile.h"

namespace tessera::shell {

/// As JSON: nested arrays. Numbers read back as what they were, but for those that JSON does not
/// have: NaN and infinity are null.
void write_json(std::ostream& out, const Tile& tile);

}  // namespace tessera::shell
