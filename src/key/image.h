#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/key.h"

namespace tessera {

/// The keys of a set written out, a column for each component, in the row-major order of the
/// points of the box they come from.
struct KeyImage {
  struct Failure {
    Key point;
    std::string error;
  };

  Key extents;
  std::vector<std::vector<std::int64_t>> columns;
  std::int64_t count = 0;
  bool filtered = false;
  std::vector<std::int64_t> points;  // the linear index of each key's point, if filtered
  std::optional<Failure> failure;    // the first point without a value; nothing follows it

  Key key_at(std::int64_t row) const;
  Key point_at(std::int64_t row) const;
};

KeyImage image_of(const KeySet& keys);

}  // namespace tessera
