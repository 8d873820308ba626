#pragma once

#include <optional>
#include <string>

#include "tessera/tile.h"

namespace tessera::session {

/// "f64[3x3], dense" or, with the number of its nonzeros, "f64[1000x1000], sparse, 2990 nonzeros".
std::string tensor_kind(const TileType& type, const std::optional<std::int64_t>& nonzeros);

}  // namespace tessera::session
