#pragma once

#include <optional>

#include "calculus/array.h"

namespace tessera::calculus {

/// A fold of a product of many factors as folds of products of two, in the cheapest order. Nothing
/// if it is no such fold, has two factors already, or if to compute it at once is cheaper.
std::optional<Array> in_pairs(const Definition& definition);

}  // namespace tessera::calculus
