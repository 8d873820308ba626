#pragma once

#include <optional>

#include "support/random_tiles.h"
#include "tessera/ia.h"

namespace tessera {

/// A relation of small random integers (i64: any order of folding gives the same), cut into tiles
/// that need not divide it, some of them missing if it comes out sparse.
Relation random_relation(Random& random, int least_rank = 1, int most_rank = 3);

/// A plan of up to `operators` operators over a few relations that it may read more than once, with
/// products of matrices among them. It may be refused when made or run: nothing if it is.
/// Inputs are relations at hand, or the same read anew whenever they are needed.
enum class Inputs { at_hand, read };
std::optional<Plan> random_plan(Random& random, int operators, Inputs inputs = Inputs::at_hand);

/// What a random plan yields by the reference; nothing if it is refused. Our own bugs are thrown.
std::optional<Relation> interpreted(const Plan& plan);

/// Any placement of a relation of this frontier that an input may have: ALL, PART of some
/// components, grids, with copies, on some sites only.
Placement random_placement(Random& random, const Key& frontier, int sites, bool copies = true);

/// Places inputs at random, the same one always alike.
ia::PlaceInput random_places(Random& random, int sites);

}  // namespace tessera
