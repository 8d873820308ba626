#pragma once

#include "support/random_tiles.h"
#include "tessera/plan.h"

namespace tessera {

/// A plan over f32 or f64 whose result shows in which order things were added up: products of
/// matrices and of vectors in tiles of many sizes, views of transposes, sums within tiles and over
/// them, sparse factors, factorizations, contractions, convolutions.
Plan rounding_plan(Random& random);

}  // namespace tessera
