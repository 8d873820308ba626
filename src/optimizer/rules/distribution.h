#pragma once

#include <optional>
#include <vector>

#include "tessera/plan.h"

// f distributes over g if f(g(a, b)) = g(f(a), f(b)): then it does not matter whether tiles are
// folded first or mapped first.

namespace tessera::optimizer {

/// Whether a kernel of one tile distributes over a fold. A column as it is does over every one.
bool distributes(const Apply& apply, const KernelCall& over);

/// The folds of the columns that a stage makes of columns with these folds, such that folding and
/// the stage commute. Nothing if one of its kernels takes several tiles or does not distribute.
std::optional<std::vector<KernelCall>> folds_after(const std::vector<Apply>& stage,
                                                   const std::vector<KernelCall>& folds);

}  // namespace tessera::optimizer
