#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/concatenation.h"
#include "kernel/rearrangement.h"

namespace tessera {
namespace {

struct Window {
  int axis = 0;
  std::int64_t begin = 0, step = 1;
  TileType type;

  std::int64_t end() const {
    const std::int64_t count = type.shape[axis];
    return count == 0 ? begin : begin + (count - 1) * step + 1;
  }
};

Window window_of(Types types, const Params& params) {
  const TileType &first = types[0], &like = types.back();
  Window window{normalize_axis("window", params.integer("axis"), first.shape),
                params.integer("begin"), params.integer("step"), first};
  std::int64_t extent = first.shape[window.axis];
  TESSERA_REQUIRE(TypeError, like.shape.rank() == 1,
                  "window: the last argument must be a vector, as long as the result; not {}",
                  to_string(like));
  if (types.size() == 3) {
    const TileType& second = types[1];
    Shape expected = first.shape;
    if (second.shape.rank() == expected.rank()) expected[window.axis] = second.shape[window.axis];
    TESSERA_REQUIRE(TypeError, second.shape == expected && second.dtype == first.dtype,
                    "window: {} and {} do not match: only dimension {} may differ",
                    to_string(first), to_string(second), window.axis);
    extent += second.shape[window.axis];
    window.type.sparse_dims = std::min(first.sparse_dims, second.sparse_dims);
  }
  window.type.shape[window.axis] = like.shape[0];
  const bool inside =
      window.begin >= 0 && window.step >= 1 &&
      (like.shape[0] == 0 ||
       (window.begin < extent && like.shape[0] - 1 <= (extent - 1 - window.begin) / window.step));
  TESSERA_REQUIRE(TypeError, inside,
                  "window: {} elements from {} on, {} apart, are not among the {} along dimension "
                  "{}",
                  like.shape[0], window.begin, window.step, extent, window.axis);
  return window;
}

Tile part(const Tile& tile, const Window& window, std::int64_t from, std::int64_t to) {
  Index begin(tile.shape().size(), 0), end(tile.shape().begin(), tile.shape().end());
  Strides step(begin.size(), 1);
  begin[window.axis] = from;
  end[window.axis] = std::max(from, to);
  step[window.axis] = window.step;
  return tile.slice(begin, end, step).with_sparse_dims(window.type.sparse_dims);
}

Tile window(Tiles tiles, const Params& params) {
  std::vector<TileType> types;
  for (const Tile& tile : tiles) types.push_back(tile.type());
  const Window window = window_of(types, params);
  const std::int64_t extent = types[0].shape[window.axis], end = window.end();
  if (window.begin >= extent && tiles.size() == 3)
    return part(tiles[1], window, window.begin - extent, end - extent);
  const Tile first = part(tiles[0], window, window.begin, std::min(extent, end));
  if (end <= extent) return first;
  const std::int64_t taken = (extent - window.begin - 1) / window.step + 1;
  const std::int64_t next = window.begin + taken * window.step - extent;
  return concatenate(std::array{first, part(tiles[1], window, next, end - extent)}, window.axis);
}

}  // namespace

Kernel window_kernel() {
  return {.name = "window",
          .description =
              "elements of the first argument, followed by the second if there are three, "
              "along an axis: as many as the last one has",
          .min_arguments = 2,
          .max_arguments = 3,
          .parameters = {{"axis", std::int64_t{0}, "the dimension"},
                         {"begin", std::int64_t{0}, "where they begin in the first argument"},
                         {"step", std::int64_t{1}, "how far apart they are"}},
          .infer = [](Types types,
                      const Params& params) { return std::vector{window_of(types, params).type}; },
          .cost =
              [](Types types, const Params& params) {
                return Cost{0, 2 * dense_bytes(window_of(types, params).type)};
              },
          .implementations = {{.name = "copy", .run = [](Tiles tiles, const Params& params) {
                                 return std::vector{window(tiles, params)};
                               }}}};
}

}  // namespace tessera
