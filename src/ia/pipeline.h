#pragma once

#include "tessera/ia.h"
#include "tra/tuple_operations.h"

namespace tessera::ia {

/// The tiles of a tuple, or their types, through a pipeline.
template <class Payload>
std::vector<Payload> through(std::vector<Payload> tiles, const Pipeline& stages) {
  for (const std::vector<Apply>& stage : stages) tiles = project(stage, tiles);
  return tiles;
}

}  // namespace tessera::ia
