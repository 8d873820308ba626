#pragma once

#include "tessera/ia.h"

namespace tessera::optimizer {

/// Shuffles both sides of a join to where the joined components say. PlanError if there are none.
void shuffle_on_joined(ia::Join& join);

}  // namespace tessera::optimizer
