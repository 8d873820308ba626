#pragma once

#include "tessera/tile.h"

namespace tessera {

/// exp(x) / sum(exp(x)) along the last dimension of a float tile, dense and row-major. The row's
/// maximum is taken off first, which changes nothing but keeps the exponentials from overflowing.
Tile row_softmax(const Tile& tile);

}  // namespace tessera
