#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/stop.h"
#include "kernel/arguments.h"
#include "kernel/concatenation.h"
#include "kernel/rearrangement.h"

namespace tessera {
namespace {

int axis_of(Types types, const Params& params) {
  return normalize_axis("assemble", params.integer("axis"), types[0].shape);
}

TileType infer_assemble(Types types, const Params& params) {
  const int axis = axis_of(types, params);
  const Types parts = types.first(types.size() - 2);
  const TileType &begins = types[types.size() - 2], &wanted = types.back();
  TESSERA_REQUIRE(
      TypeError,
      begins.dtype == DType::i64 && begins.shape == Shape{static_cast<std::int64_t>(parts.size())},
      "assemble: the last but one argument must be {} integers, where each part "
      "begins; not {}",
      parts.size(), to_string(begins));
  TESSERA_REQUIRE(TypeError, wanted.dtype == DType::i64 && wanted.shape.rank() == 1,
                  "assemble: the last argument must be a vector of positions; not {}",
                  to_string(wanted));
  TileType result = parts[0];
  for (const TileType& part : parts) {
    Shape expected = parts[0].shape;
    if (part.shape.rank() == expected.rank()) expected[axis] = part.shape[axis];
    TESSERA_REQUIRE(TypeError, part.shape == expected && part.dtype == result.dtype,
                    "assemble: {} and {} do not match: only dimension {} may differ",
                    to_string(parts[0]), to_string(part), axis);
    result.sparse_dims = std::min(result.sparse_dims, part.sparse_dims);
  }
  result.shape[axis] = wanted.shape[0];
  return result;
}

/// Elements of one part, equally far apart, or zeros where there is none.
struct Stretch {
  int part = -1;
  std::int64_t begin = 0, count = 0, step = 1;
};

/// Where a part has a position of the whole; -1: it does not.
std::int64_t place_in(std::int64_t extent, std::int64_t begin, std::int64_t position) {
  if (position < begin) return -1;
  const auto distance = static_cast<std::uint64_t>(position) - static_cast<std::uint64_t>(begin);
  return distance < static_cast<std::uint64_t>(extent) ? static_cast<std::int64_t>(distance) : -1;
}

/// The part that has a position, and where; the first one, if several do.
Stretch found_in(Tiles parts, int axis, const std::int64_t* begins, std::int64_t position) {
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t place = place_in(parts[p].shape()[axis], begins[p], position);
    if (place >= 0) return {static_cast<int>(p), place};
  }
  return {};
}

std::vector<Stretch> stretches_of(Tiles parts, int axis, const Tile& begins, const Tile& wanted) {
  std::vector<Stretch> stretches;
  StopPoll poll("tiles were joined");
  for (std::int64_t w = 0; w < wanted.elements(); ++w) {
    poll.passed(static_cast<std::int64_t>(parts.size()));
    const Stretch found =
        found_in(parts, axis, begins.data<std::int64_t>(), wanted.data<std::int64_t>()[w]);
    Stretch* last = stretches.empty() ? nullptr : &stretches.back();
    bool goes_on = last != nullptr && last->part == found.part;
    if (goes_on && found.part >= 0) {
      if (last->count == 1 && found.begin > last->begin) last->step = found.begin - last->begin;
      goes_on = found.begin == last->begin + last->count * last->step;
    }
    if (!goes_on) stretches.push_back(found);
    ++stretches.back().count;
  }
  return stretches;
}

Tile assemble(Tiles tiles, const Params& params) {
  std::vector<TileType> types;
  for (const Tile& tile : tiles) types.push_back(tile.type());
  const TileType type = infer_assemble(types, params);
  const int axis = axis_of(types, params);
  const Tiles parts = tiles.first(tiles.size() - 2);
  const Tile begins = tiles[tiles.size() - 2].contiguous(), wanted = tiles.back().contiguous();
  std::vector<Tile> found;
  for (const Stretch& stretch : stretches_of(parts, axis, begins, wanted)) {
    Shape shape = type.shape;
    shape[axis] = stretch.count;
    if (stretch.part < 0) {
      found.push_back(Tile::zeros(type.dtype, shape, type.sparse_dims));
      continue;
    }
    const Tile& part = parts[static_cast<std::size_t>(stretch.part)];
    Index begin(shape.size(), 0), end(shape.begin(), shape.end());
    begin[axis] = stretch.begin;
    end[axis] = stretch.begin + (stretch.count - 1) * stretch.step + 1;
    Strides steps(shape.size(), 1);
    steps[axis] = stretch.step;
    const bool whole = part.shape() == shape;
    found.push_back(
        (whole ? part : part.slice(begin, end, steps)).with_sparse_dims(type.sparse_dims));
  }
  if (found.empty()) return Tile::zeros(type.dtype, type.shape, type.sparse_dims);
  return found.size() == 1 ? found[0] : concatenate(found, axis);
}

}  // namespace

Kernel assembly_kernel() {
  Properties properties;
  properties.zero_preserving = true;
  return {.name = "assemble",
          .description =
              "the elements at some positions along an axis of what the arguments are parts of, "
              "zero where no part is; the last two arguments are where each part begins, and the "
              "positions",
          .min_arguments = 3,
          .max_arguments = any_number,
          .parameters = {{"axis", std::int64_t{0}, "the dimension"}},
          .properties = properties,
          .infer = [](Types types,
                      const Params& params) { return std::vector{infer_assemble(types, params)}; },
          .cost =
              [](Types types, const Params& params) {
                return Cost{0, 2 * dense_bytes(infer_assemble(types, params))};
              },
          .implementations = {{.name = "copy", .run = [](Tiles tiles, const Params& params) {
                                 return std::vector{assemble(tiles, params)};
                               }}}};
}

}  // namespace tessera
