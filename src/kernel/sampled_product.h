#pragma once

#include "tessera/tile.h"

namespace tessera {

/// How a sampled product reads its operands.
struct Sampling {
  bool transpose_b = false;
  bool use_mask_values = true;
};

/// What the product of these operands is: the layout and places of the mask, CSR if it is dense.
TileType sampled_product_type(const TileType& mask, const TileType& a, const TileType& b,
                              const Sampling& sampling);

/// mask * (a b), elementwise, computed only where the mask is stored: its other elements are not
/// worth a dot product.
Tile sampled_product(const Tile& mask, const Tile& a, const Tile& b, const Sampling& sampling);

}  // namespace tessera
