#pragma once

#include <vector>

#include "tessera/relation.h"

namespace tessera {

/// The types of absent tiles, told by those that are there: for a sparse relation that somebody
/// made tuple by tuple. A dimension's extent is the bound, unless the tiles' extents differ and
/// follow from one key component (as those along the edge of a tensor do): then it is what the
/// other tiles with that component have.
TypesAt guess_absent_types(const RelationType& type, const std::vector<Tuple>& tuples);

}  // namespace tessera
