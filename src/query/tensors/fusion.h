#pragma once

#include <functional>
#include <map>

#include "calculus/array.h"

namespace tessera::query {

/// Elements times operations from which on a form is worth its compilation, which takes some
/// milliseconds.
inline constexpr double usually_worth_compiling = 4e6;

/// A definition that computes more by itself, where that is cheaper than an array in between: sums
/// of products that are factors of another one, so that their order can be chosen, and chains of
/// elementwise functions over what is large. `uses`: how many definitions read each one. What
/// `is_there` is computed already, and read.
calculus::Definition fused(const calculus::Definition& definition, double worth_compiling,
                           const std::map<const calculus::Definition*, int>& uses,
                           const std::function<bool(const calculus::Definition*)>& is_there);

}  // namespace tessera::query
