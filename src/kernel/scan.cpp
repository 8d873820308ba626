#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/stop.h"
#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/form/operations.h"
#include "tile/dispatch.h"

// Sums and products of all elements up to each one along an axis.

namespace tessera {
namespace {

TileType infer_scan(const char* name, const TileType& type, const Params& params) {
  (void)normalize_axis(name, params.integer("axis"), type.shape);
  return {is_float(type.dtype) ? type.dtype : DType::i64, type.shape};
}

/// Seen along the axis, a row-major tile is a sequence of blocks of `extent` rows each.
struct Rows {
  std::int64_t blocks, extent, width;
};

template <class Combine, class T, class Result>
void scan(const T* from, Result* to, const Rows& rows, bool exclusive, Result identity) {
  using Accumulator = std::conditional_t<Floating<T>, double, std::int64_t>;
  StopPoll poll("elements were added up");
  std::vector<Accumulator> totals(static_cast<std::size_t>(rows.width));
  for (std::int64_t block = 0; block < rows.blocks; ++block) {
    std::fill(totals.begin(), totals.end(), static_cast<Accumulator>(identity));
    for (std::int64_t row = 0; row < rows.extent; ++row) {
      poll.passed(rows.width);
      for (std::int64_t i = 0; i < rows.width; ++i) {
        Accumulator& total = totals[static_cast<std::size_t>(i)];
        const Accumulator next = Combine()(total, static_cast<Accumulator>(from[i]));
        to[i] = static_cast<Result>(exclusive ? total : next);
        total = next;
      }
      from += rows.width;
      to += rows.width;
    }
  }
}

template <class Combine>
Tile scanned(const char* name, const Tile& tile, const Params& params, std::int64_t identity) {
  const TileType type = infer_scan(name, tile.type(), params);
  const int axis = normalize_axis(name, params.integer("axis"), type.shape);
  const Tile source = tile.contiguous();
  MutableTile result = MutableTile::uninitialized(type.dtype, type.shape);
  if (result.elements() == 0) return std::move(result).publish();
  const Rows rows{Shape(type.shape.begin(), type.shape.begin() + axis).elements(), type.shape[axis],
                  Shape(type.shape.begin() + axis + 1, type.shape.end()).elements()};
  visit_dtype(tile.dtype(), [&]<class T>() {
    using Result = std::conditional_t<Floating<T>, T, std::int64_t>;
    scan<Combine>(source.data<T>(), result.data<Result>(), rows, params.flag("exclusive"),
                  static_cast<Result>(identity));
  });
  return std::move(result).publish();
}

template <class Combine>
Kernel scan_kernel(const char* name, const char* description, std::int64_t identity,
                   Properties properties) {
  return {.name = name,
          .description = description,
          .parameters = {{"axis", std::int64_t{0}, "the dimension"},
                         {"exclusive", false, "whether each element itself is left out"}},
          .properties = std::move(properties),
          .infer =
              [name](Types types, const Params& params) {
                return std::vector{infer_scan(name, types[0], params)};
              },
          .implementations = {
              {.name = "rows", .run = [name, identity](Tiles tiles, const Params& params) {
                 return std::vector{scanned<Combine>(name, tiles[0], params, identity)};
               }}}};
}

}  // namespace

std::vector<Kernel> scan_kernels() {
  Properties linear;
  linear.zero_preserving = true;
  linear.linear_in = {0};
  return {scan_kernel<Add>("cumsum", "the sums of the elements up to each one along an axis", 0,
                           std::move(linear)),
          scan_kernel<Mul>("cumprod", "the products of the elements up to each one along an axis",
                           1, {})};
}

}  // namespace tessera
