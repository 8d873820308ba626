#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/concatenation.h"
#include "kernel/rearrangement.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

using Integers = std::vector<std::int64_t>;

// --- concat

TileType infer_concat(Types types, const Params& params) {
  const TileType& first = types[0];
  const int axis = normalize_axis("concat", params.integer("axis"), first.shape);
  TileType result = first;
  __int128 extent = 0;
  for (const TileType& type : types) {
    Shape expected = first.shape;
    if (type.shape.rank() == expected.rank()) expected[axis] = type.shape[axis];
    TESSERA_REQUIRE(TypeError, type.shape == expected,
                    "concat: {} and {} do not match: all dimensions except dimension {} must be "
                    "equal; slice or pad one of them",
                    to_string(first), to_string(type), axis);
    result.dtype = promote(result.dtype, type.dtype);
    if (!type.is_sparse()) result.sparse_dims = 0;
    extent += type.shape[axis];
  }
  result.shape[axis] = checked_extent("concat", extent, first);
  return result;
}

Tile concat(Tiles tiles, const Params& params) {
  const int axis = normalize_axis("concat", params.integer("axis"), tiles[0].shape());
  DType dtype = tiles[0].dtype();
  for (const Tile& tile : tiles) dtype = promote(dtype, tile.dtype());
  std::vector<Tile> parts;
  for (const Tile& tile : tiles) parts.push_back(tile.dtype() == dtype ? tile : tile.cast(dtype));
  return concatenate(parts, axis);
}

Kernel concat_kernel() {
  Properties properties;
  properties.zero_preserving = true;
  return {.name = "concat",
          .description = "the arguments side by side along an axis",
          .min_arguments = 1,
          .max_arguments = any_number,
          .parameters = {{"axis", std::int64_t{0}, "the dimension along which they are joined"}},
          .properties = properties,
          .infer = [](Types types,
                      const Params& params) { return std::vector{infer_concat(types, params)}; },
          .cost =
              [](Types types, const Params& params) {
                Cost cost{0, dense_bytes(infer_concat(types, params))};
                for (const TileType& type : types) cost.bytes += dense_bytes(type);
                return cost;
              },
          .implementations = {{.name = "copy", .run = [](Tiles tiles, const Params& params) {
                                 return std::vector{concat(tiles, params)};
                               }}}};
}

// --- tile

/// The repeats and the shape brought to one rank, the shorter extended by ones at the front.
std::pair<Shape, Integers> aligned_repeats(const TileType& type, const Params& params) {
  Integers repeats = params.integers("repeats");
  const std::size_t rank = std::max(repeats.size(), type.shape.size());
  TESSERA_REQUIRE(TypeError, rank <= max_rank,
                  "tile: {} repeats of {} would have more than {} dimensions", repeats.size(),
                  to_string(type), max_rank);
  for (std::int64_t count : repeats)
    TESSERA_REQUIRE(TypeError, count >= 0, "tile: repeats [{}] of {} must not be negative",
                    fmt::join(repeats, ", "), to_string(type));
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  Shape shape(rank - type.shape.size(), 1);
  for (std::int64_t extent : type.shape) shape.push_back(extent);
  return {shape, repeats};
}

TileType infer_tile(const TileType& type, const Params& params) {
  auto [shape, repeats] = aligned_repeats(type, params);
  for (std::size_t i = 0; i < shape.size(); ++i)
    shape[i] = checked_extent("tile", static_cast<__int128>(shape[i]) * repeats[i], type);
  return {type.dtype, shape, type.sparse_dims};
}

Tile tile_repeated(const Tile& tile, const Params& params) {
  const auto [shape, repeats] = aligned_repeats(tile.type(), params);
  Tile result = tile.reshape(shape);
  for (int axis = shape.rank() - 1; axis >= 0; --axis)
    if (repeats[axis] != 1) result = concatenate(std::array{result}, axis, repeats[axis]);
  return result;
}

// --- pad

/// The value to pad with as a scalar of the dtype; an i64 is not rounded on its way.
Tile pad_value(DType dtype, const Params& params) {
  const ParamValue& value = params.values().at("value");
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return Tile::scalar(*integer).cast(dtype);
  return Tile::scalar(params.number("value")).cast(dtype);
}

bool can_hold(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
    case DType::f64: return true;
    case DType::i64: return std::trunc(value) == value && std::abs(value) <= 0x1p63;
    case DType::boolean: return value == 0 || value == 1;
  }
  TESSERA_INVARIANT(false, "dtype {}", static_cast<int>(dtype));
}

TileType infer_pad(const TileType& type, const Params& params) {
  const Integers before = params.integers("before");
  const Integers after = params.integers("after");
  const double value = params.number("value");
  const std::size_t rank = type.shape.size();
  const auto negative = [](std::int64_t count) { return count < 0; };
  TESSERA_REQUIRE(TypeError,
                  before.size() == rank && after.size() == rank &&
                      std::none_of(before.begin(), before.end(), negative) &&
                      std::none_of(after.begin(), after.end(), negative),
                  "pad: before [{}] and after [{}] are not valid for {}; give a number of at least "
                  "0 for each of its {} dimensions",
                  fmt::join(before, ", "), fmt::join(after, ", "), to_string(type), rank);
  TESSERA_REQUIRE(TypeError, can_hold(type.dtype, value),
                  "pad: {} cannot hold the value {}; cast it first", to_string(type), value);
  TileType result{type.dtype, type.shape, value == 0 ? type.sparse_dims : 0};
  for (std::size_t i = 0; i < rank; ++i)
    result.shape[i] =
        checked_extent("pad", static_cast<__int128>(type.shape[i]) + before[i] + after[i], type);
  return result;
}

/// Padding is concatenation with constant tiles, one dimension after another.
Tile pad(const Tile& tile, const Params& params) {
  const Integers before = params.integers("before");
  const Integers after = params.integers("after");
  const TileType type = infer_pad(tile.type(), params);
  const Tile value = pad_value(type.dtype, params);
  Tile result = tile.with_sparse_dims(type.sparse_dims);
  for (int axis = 0; axis < tile.rank(); ++axis) {
    if (before[axis] == 0 && after[axis] == 0) continue;
    const auto margin = [&](std::int64_t extent) {
      Shape shape = result.shape();
      shape[axis] = extent;
      return type.is_sparse() ? Tile::zeros(type.dtype, shape, type.sparse_dims)
                              : value.broadcast(shape);
    };
    result = concatenate(std::array{margin(before[axis]), result, margin(after[axis])}, axis);
  }
  return result;
}

}  // namespace

std::vector<Kernel> enlargement_kernels() {
  return {
      concat_kernel(),
      rearrangement_kernel(
          {.name = "tile",
           .description = "a repeated along its dimensions",
           .infer = infer_tile,
           .run = tile_repeated,
           .parameters = {{"repeats", std::nullopt,
                           "how often along each dimension; the last ones, if fewer"}}},
          moves_elements()),
      rearrangement_kernel(
          {.name = "pad",
           .description = "a within a margin of one value",
           .infer = infer_pad,
           .run = pad,
           .parameters = {{"before", std::nullopt, "how wide the margin before each dimension is"},
                          {"after", std::nullopt, "how wide the margin after each dimension is"},
                          {"value", std::int64_t{0}, "what the margin holds"}}},
          {}),
  };
}

}  // namespace tessera
