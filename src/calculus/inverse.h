#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "kernel/form/term.h"

namespace tessera::calculus {

/// Stand for the key in what `inverse_of` gives, and for an index of its own where several values
/// of an index have one key.
inline constexpr int inverse_key = -1, inverse_rest = -2;

/// The indices that a key is made of, as functions of the key.
struct Inverse {
  std::map<int, Term> values;
  std::vector<Term> conditions = {};                // on the key, where not every one occurs
  std::optional<std::int64_t> rest = std::nullopt;  // how far `inverse_rest` runs, if it is used
};

/// Of sums of indices times constants, as they shift, reverse or join dimensions, and of their
/// remainders and quotients by a constant. Indices that are `known` count as constants. Nothing if
/// the key is no such function.
std::optional<Inverse> inverse_of(const Term& key, const std::vector<std::int64_t>& extents,
                                  const std::set<int>& known);

}  // namespace tessera::calculus
