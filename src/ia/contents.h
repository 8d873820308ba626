#pragma once

#include <vector>

#include "tessera/ia.h"

namespace tessera::ia {

/// The stored tuples of a relation, listed before it exists: their keys, in order, and how many
/// numbers the tiles of each have. An element of a tile counts as one number in any layout.
struct Contents {
  std::vector<Key> keys;
  std::vector<double> floats;
  bool exact = true;  // no: the plan could not be listed, and these are all keys below the frontier
};
/// PlanError if there are more than `contents_limit`.
inline constexpr std::int64_t contents_limit = 4'000'000;
bool can_be_listed(const tessera::Plan& logical);  // all keys below the frontier, if need be
Contents contents_of(const tessera::Plan& logical);
/// The same for a physical plan, which may have filled in what a sparse relation leaves out.
Contents contents_of(const Plan& plan);

double floats_of(const std::vector<Column>& columns);

}  // namespace tessera::ia
