#pragma once

#include <vector>

#include "tessera/placement.h"

namespace tessera::optimizer {

/// The ways to spread the tuples below a frontier over sites: every grid with an axis for some of
/// the components, and some components dealt out together. Where there are too many, only grids
/// of which every axis has an effect, and then only those that leave no room for more. In any order
/// of the axes, if there are still few enough: the order numbers the sites, and so decides what
/// already lies right. Else in the order of the components, and with the axes of some components
/// behind all others.
std::vector<Placement> grids(const Key& frontier, int sites, std::size_t most = 400,
                             const std::vector<int>& last = {});

/// The placement with one copy of each tuple that is closest to this one: axes of copies or of
/// summands split what the other axes leave together, so that from there each site has a part of
/// what it needs, or to there each sends a part of its summands.
Placement spread_out(const Placement& placement, const Key& frontier);

/// The ways to put copies to use: each axis of copies split by one of the components, or all of
/// them spread out.
std::vector<Placement> bind_copies(const Placement& placement, const Key& frontier);

}  // namespace tessera::optimizer
