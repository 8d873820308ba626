#pragma once

#include "exec/estimates.h"
#include "tessera/ia.h"

namespace tessera::exec {

/// The types that a chain of kernels makes of others. Its cost is added to the estimate, and what
/// it needs for a while besides its inputs and its result: intermediates, as far as their sizes are
/// known beforehand, and dense copies of sparse tiles for kernels that take no others. What is only
/// looked at in another way, as a transpose is, takes nothing of its own.
std::vector<TileType> through(std::vector<TileType> types, const ia::Pipeline& stages,
                              Estimate& estimate);

/// Bytes of the dense ones among tiles of these types.
double known_bytes(const std::vector<TileType>& types);

}  // namespace tessera::exec
