#pragma once

#include <cstddef>
#include <cstdint>

// Walks over all positions of a box, be it of keys or of elements, in row-major order.

namespace tessera {

/// Steps the first `dimensions` parts of a position to the next one of the box [begin, end); back
/// at its begin, and false, after the last one.
template <class Position>
bool advance(Position& at, const Position& begin, const Position& end, std::size_t dimensions) {
  for (std::size_t d = dimensions; d-- > 0;) {
    if (++at[d] < end[d]) return true;
    at[d] = begin[d];
  }
  return false;
}

/// The same below some extents.
template <class Position, class Extents>
bool advance(Position& at, const Extents& extents, std::size_t dimensions) {
  for (std::size_t d = dimensions; d-- > 0;) {
    if (++at[d] < extents[d]) return true;
    at[d] = 0;
  }
  return false;
}
template <class Position, class Extents>
bool advance(Position& at, const Extents& extents) {
  return advance(at, extents, at.size());
}

/// The position that such a walk below these extents comes to after `steps` steps.
template <class Position, class Extents>
Position unraveled(std::uint64_t steps, const Extents& extents) {
  Position at(extents.size(), 0);
  for (std::size_t d = extents.size(); d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(extents[d]);
    at[d] = static_cast<std::int64_t>(steps % extent);
    steps /= extent;
  }
  return at;
}

}  // namespace tessera
