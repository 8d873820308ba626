#pragma once

#include <functional>

#include "calculus/array.h"

namespace tessera::calculus {

/// The same array with some folds as arrays of their own, which it reads: what a fold reads is then
/// computed once for all that use it, in plans of its own. The fold that an element is as a whole
/// stays.
Definition with_folds_apart(const Definition& definition,
                            const std::function<bool(const term::Fold&)>& apart);

}  // namespace tessera::calculus
