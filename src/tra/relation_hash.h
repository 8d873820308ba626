#pragma once

#include <cstdint>

#include "tessera/relation.h"

namespace tessera {

/// A number that two relations share if they have the same tiles at the same keys, and otherwise
/// only by chance. Tiles are read once, by several threads, whatever relations they are in.
std::uint64_t hash_of(const Relation& relation);

}  // namespace tessera
