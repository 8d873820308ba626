#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/tile.h"

namespace tessera {

/// The elements of a tile as plain lists, row-major, read one at a time: what the reference loops
/// work on. Numbers of a float dtype are in `reals`; those of i64 and bool in `integers`, and in
/// `reals` as the nearest doubles.
struct Elements {
  Elements() = default;
  Elements(DType element, const Shape& extents);  // zeros, all stored
  explicit Elements(const Tile& tile);

  std::int64_t size() const { return static_cast<std::int64_t>(reals.size()); }
  bool is_nonzero(std::int64_t position) const { return !(reals[position] == 0); }
  void set_integer(std::int64_t position, std::int64_t value);
  /// Rounds to f32 if that is the dtype.
  void set_real(std::int64_t position, double value);
  /// Copies an element of the same dtype.
  void set(std::int64_t position, const Elements& from, std::int64_t source);
  std::string print(std::int64_t position) const;

  DType dtype = DType::f64;
  Shape shape;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  std::vector<char> stored;
  bool all_stored = true;  // because the layout is dense
};

/// The elements converted to another dtype; what is not stored stays so.
Elements converted(const Elements& elements, DType dtype);
/// The elements as a dense tile.
Tile to_tile(const Elements& elements);

std::int64_t position_of(const Index& index, const Shape& shape);
Index index_of(std::int64_t position, const Shape& shape);
/// The position in a tile of shape `from` that broadcasting puts at `index` of a larger shape.
std::int64_t broadcast_position(const Index& index, const Shape& from);

/// Whether two elements are the same number: NaN equals NaN, -0 equals 0.
bool same_element(const Elements& a, const Elements& b, std::int64_t position);

}  // namespace tessera
