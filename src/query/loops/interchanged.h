#pragma once

#include "query/loops/chain.h"

namespace tessera::query {

/// Of an independent loop, a loop for each step of its body,
///   for i do { s; for j do t }   for i do s; for j do for i do t
/// inside of those of its loops whose ranges are the same in all of its iterations: what runs in
/// sequence then takes as few iterations as it can. Empty if there is no such loop.
sql::Steps interchanged(const sql::Step& loop);

}  // namespace tessera::query
