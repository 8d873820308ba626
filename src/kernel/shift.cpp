#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/concatenation.h"
#include "kernel/rearrangement.h"

namespace tessera {
namespace {

/// The first argument is a tile of a tensor that is `extent` long along the axis, in tiles of
/// `tile`; the second is its neighbour.
struct Shift {
  int axis = 0;
  std::int64_t distance = 0, extent = 0, tile = 1;
  TileType type;
};

Shift shift_of(Types types, const Params& params) {
  const TileType &first = types[0], &second = types[1], &positions = types[2];
  Shift shift{normalize_axis("shift", params.integer("axis"), first.shape),
              params.integer("distance"), params.integer("extent"), params.integer("tile"), first};
  Shape expected = first.shape;
  if (second.shape.rank() == expected.rank()) expected[shift.axis] = second.shape[shift.axis];
  TESSERA_REQUIRE(TypeError, second.shape == expected && second.dtype == first.dtype,
                  "shift: {} and {} do not match: only dimension {} may differ", to_string(first),
                  to_string(second), shift.axis);
  TESSERA_REQUIRE(TypeError, positions.dtype == DType::i64 && positions.shape.rank() == 1,
                  "shift: the last argument must be a vector of positions, not {}",
                  to_string(positions));
  TESSERA_REQUIRE(TypeError, shift.tile >= 1, "shift: the tile size {} must be positive",
                  shift.tile);
  shift.type = {first.dtype, first.shape};
  shift.type.shape[shift.axis] = positions.shape[0];
  return shift;
}

Tile part(const Tile& tile, int axis, std::int64_t from, std::int64_t to) {
  Index begin(tile.shape().size(), 0), end(tile.shape().begin(), tile.shape().end());
  begin[axis] = from;
  end[axis] = to;
  return tile.slice(begin, end).dense();
}

Tile shift(Tiles tiles, const Params& params) {
  const Shift shift =
      shift_of(std::array{tiles[0].type(), tiles[1].type(), tiles[2].type()}, params);
  const std::int64_t count = shift.type.shape[shift.axis];
  if (shift.type.shape.elements() == 0) return Tile::zeros(shift.type);
  // From where to where they are in the tensor, and where the first tile is.
  const std::int64_t begin = tiles[2].at<std::int64_t>({0}) + shift.distance;
  const std::int64_t in_tile = (begin % shift.tile + shift.tile) % shift.tile;
  const std::int64_t own = begin - in_tile, next = own + shift.tile;
  const std::int64_t from = std::clamp<std::int64_t>(begin, 0, shift.extent);
  const std::int64_t to = std::clamp(begin + count, from, std::max(from, shift.extent));
  std::vector<Tile> parts;
  const auto zeros = [&](std::int64_t length) {
    Shape shape = shift.type.shape;
    shape[shift.axis] = length;
    if (length > 0) parts.push_back(Tile::zeros(shift.type.dtype, shape));
  };
  const auto take = [&](const Tile& tile, std::int64_t first, std::int64_t low, std::int64_t high) {
    if (low >= high) return;
    TESSERA_REQUIRE(TypeError, high - first <= tile.shape()[shift.axis],
                    "shift: positions {} to {} are not in a tile of {} that begins at {}", low,
                    high, to_string(tile.type()), first);
    parts.push_back(part(tile, shift.axis, low - first, high - first));
  };
  zeros(std::min(begin + count, from) - begin);
  take(tiles[0], own, from, std::min(to, next));
  take(tiles[1], next, std::max(from, next), to);
  zeros(begin + count - std::max(begin, to));
  return parts.size() == 1 ? parts[0] : concatenate(parts, shift.axis);
}

}  // namespace

Kernel shift_kernel() {
  return {.name = "shift",
          .description =
              "what a tensor holds at a distance from the given positions along an "
              "axis, and zeros beyond its ends: of the tile where that begins and of "
              "the next one",
          .min_arguments = 3,
          .max_arguments = 3,
          .parameters = {{"axis", std::int64_t{0}, "the dimension"},
                         {"distance", std::int64_t{0}, "what is added to a position"},
                         {"extent", std::nullopt, "how long the tensor is along the axis"},
                         {"tile", std::nullopt, "how long its tiles are"}},
          .infer = [](Types types,
                      const Params& params) { return std::vector{shift_of(types, params).type}; },
          .cost =
              [](Types types, const Params& params) {
                return Cost{0, 2 * dense_bytes(shift_of(types, params).type)};
              },
          .implementations = {{.name = "copy", .run = [](Tiles tiles, const Params& params) {
                                 return std::vector{shift(tiles, params)};
                               }}}};
}

}  // namespace tessera
