#pragma once

#include <optional>
#include <vector>

#include "tessera/plan.h"

// f distributes over g if f(g(a, b)) = g(f(a), f(b)): then it does not matter whether tiles are
// folded first or mapped first.

namespace tessera::optimizer {

/// The folds of the columns that a stage makes of columns with these folds, such that folding and
/// the stage commute. Nothing if one of its kernels takes several tiles or does not distribute.
std::optional<std::vector<KernelCall>> folds_after(const std::vector<Apply>& stage,
                                                   const std::vector<KernelCall>& folds);

/// The other way round: the folds of `width` columns before the stage. Nothing also if a column is
/// not used, or in two ways with different folds.
std::optional<std::vector<KernelCall>> folds_before(const std::vector<Apply>& stage,
                                                    const std::vector<KernelCall>& folds,
                                                    std::size_t width);

}  // namespace tessera::optimizer
