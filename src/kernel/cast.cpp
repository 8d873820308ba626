#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernel/rearrangement.h"
#include "kernel/sparse_merge.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

/// The integers of so many bits.
struct IntegerRange {
  int bits;
  std::int64_t least() const { return std::numeric_limits<std::int64_t>::min() >> (64 - bits); }
  std::int64_t largest() const { return std::numeric_limits<std::int64_t>::max() >> (64 - bits); }
};

/// Whether one of them is what is left of a number without its fraction.
bool holds(const IntegerRange& integers, std::int64_t value) {
  return value >= integers.least() && value <= integers.largest();
}
bool holds(const IntegerRange& integers, double value) {
  const double whole = std::trunc(value);
  const double end = -static_cast<double>(integers.least());  // a power of two, hence exact
  return whole >= -end && whole < end;
}
bool holds(const IntegerRange&, bool) { return true; }
bool holds(const IntegerRange& integers, float value) {
  return holds(integers, static_cast<double>(value));
}

Tile values_of(const Tile& tile) {
  return tile.is_sparse() ? stored_values(tile) : tile.contiguous();
}

/// A float that no i64 holds has become the least one: only where that, or another integer that is
/// too large, has come out is the tile looked at again.
void require_held(const Tile& tile, const Tile& cast, const IntegerRange& integers) {
  const Tile after = values_of(cast);
  const std::int64_t* first = after.data<std::int64_t>();
  const bool sure = std::all_of(first, first + after.elements(), [&](std::int64_t value) {
    return value > integers.least() && value <= integers.largest();
  });
  if (sure) return;
  const Tile before = values_of(tile);
  visit_dtype(before.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < before.elements(); ++i) {
      const T value = before.data<T>()[i];
      if (holds(integers, value)) continue;
      const bool is_number = value == value;  // NaN is not, and has no sign that matters
      throw ValueError(fmt::format("cast: {} is out of range for a {}-bit integer: {} to {}",
                                   is_number ? fmt::format("{}", value) : "nan", integers.bits,
                                   integers.least(), integers.largest()));
    }
  });
}

TileType infer_cast(const TileType& type, const Params& params) {
  const std::int64_t bits = params.integer("bits");
  TESSERA_REQUIRE(TypeError, bits == 32 || bits == 64, "cast: bits must be 32 or 64, not {}", bits);
  try {
    return {parse_dtype(params.text("dtype")), type.shape, type.sparse_dims};
  } catch (const TypeError& error) {
    throw TypeError(fmt::format("cast: {}", error.what()));
  }
}

Tile cast(const Tile& tile, const Params& params) {
  const DType dtype = parse_dtype(params.text("dtype"));
  const IntegerRange integers{static_cast<int>(params.integer("bits"))};
  const Tile result = dtype == tile.dtype() ? tile : tile.cast(dtype);
  const bool any_fits =
      tile.dtype() == DType::boolean || (tile.dtype() == DType::i64 && integers.bits == 64);
  if (dtype == DType::i64 && !any_fits) require_held(tile, result, integers);
  return result;
}

}  // namespace

Kernel cast_kernel() {
  Properties properties;
  properties.elementwise = true;
  properties.zero_preserving = true;
  return rearrangement_kernel(
      {.name = "cast",
       .description = "a in another dtype; a number that an i64 cannot hold is an error",
       .infer = infer_cast,
       .run = cast,
       .parameters = {{"dtype", std::nullopt, "f32, f64, i64 or bool"},
                      {"bits", std::int64_t{64}, "of an i64: 32 to take only what fits so many"}}},
      std::move(properties));
}

}  // namespace tessera
