#pragma once

#include <cstdint>
#include <vector>

#include "key/interval.h"

namespace tessera {

/// The points of a box that pass a filter, with as much of the filter as possible turned into
/// bounds: the domain is what lies within `bounds` and satisfies all of `conditions`.
struct KeyDomain {
  Bounds bounds;
  std::vector<KeyPredicate> conditions;
  bool empty = false;
  /// Whether the filter certainly has a value at every point of the box.
  bool defined = true;

  /// How many points lie within the bounds, saturating.
  std::int64_t points_within_bounds() const;
};

KeyDomain domain_of(const Key& extents, const KeyPredicate& where);

}  // namespace tessera
