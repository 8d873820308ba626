#pragma once

#include <cstdint>

#include "tessera/relation.h"

namespace tessera {

/// A number that two relations share if they have the same tiles at the same keys, and otherwise
/// only by chance.
std::uint64_t checksum_of(const Relation& relation);

}  // namespace tessera
