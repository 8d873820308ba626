#pragma once

#include <functional>

#include "query/tensors/tensor.h"

namespace tessera::query {

/// The vector 0, 1, 2, ... in tiles, each made where it is needed.
Tensor positions(std::int64_t extent, std::int64_t tile);

/// Two vectors for each tile along a dimension of the result: where the tiles that come with it
/// begin, one in each of `columns`, and the positions that it wants of them.
Plan tile_places(std::int64_t extent, std::int64_t tile, std::size_t columns,
                 const std::function<std::int64_t(std::size_t column, std::int64_t tile)>& begin,
                 const std::function<std::int64_t(std::int64_t index)>& wanted);

}  // namespace tessera::query
