#pragma once

#include "tessera/tile.h"

namespace tessera {

/// Copies a dense tile of any strides to row-major memory of a dtype of its own.
void copy_to_row_major(const Tile& source, DType dtype, std::byte* target);

}  // namespace tessera
