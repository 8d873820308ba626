#pragma once

#include <limits>

#include "tessera/tessera.h"

// Nearest-neighbour search in a Riemannian metric (Yuan et al., section 6.2): of the rows x_i of X,
// the one that minimises (x_i - q) A (x_i - q)^T.

namespace tasks {

/// Two kernels that carry the smallest distance and its row through the aggregation, as a tile of
/// two numbers.
inline void register_nearest_kernels() {
  using namespace tessera;
  static const bool once = [] {
    register_kernel({
        .name = "nearest",
        .description = "the smallest of some distances, and the row it belongs to",
        .min_arguments = 2,
        .max_arguments = 2,
        .infer =
            [](Types types, const Params&) {
              return std::vector<TileType>{{types[0].dtype, {2}, 0}};
            },
        .implementations =
            {{.name = "loop",
              .layouts = {LayoutPattern::dense},
              .run =
                  [](Tiles tiles, const Params&) {
                    const Tile distances = tiles[0].contiguous();
                    const Tile rows = tiles[1].contiguous();
                    double best[2] = {std::numeric_limits<double>::infinity(), -1};
                    for (std::int64_t i = 0; i < distances.elements(); ++i)
                      if (distances.data<double>()[i] < best[0]) {
                        best[0] = distances.data<double>()[i];
                        best[1] = rows.data<double>()[i];
                      }
                    return std::vector<Tile>{Tile::of<double>({2}, {best[0], best[1]})};
                  }}},
    });
    register_kernel({
        .name = "nearer",
        .description = "of two results of `nearest`, the one with the smaller distance",
        .min_arguments = 2,
        .max_arguments = 2,
        .properties = {.associative = true, .commutative = true, .idempotent = true},
        .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
        .implementations = {{.name = "compare",
                             .layouts = {LayoutPattern::dense},
                             .run =
                                 [](Tiles tiles, const Params&) {
                                   const Tile a = tiles[0].contiguous(), b = tiles[1].contiguous();
                                   const double* x = a.data<double>();
                                   const double* y = b.data<double>();
                                   const bool first = x[0] < y[0] || (x[0] == y[0] && x[1] <= y[1]);
                                   return std::vector<Tile>{first ? a : b};
                                 }}},
    });
    return true;
  }();
  (void)once;
}

struct NearestNeighbour {
  tessera::Plan difference, projected, distance, nearest;
};

/// X is cut into (n, d) tiles, A into (d, d), the query into (d) rows of one; `rows` numbers the
/// rows of X, a tile for each n. The result has one tuple: the distance, and the row.
inline NearestNeighbour nearest_neighbour(const tessera::Plan& x, const tessera::Plan& query,
                                          const tessera::Plan& a, const tessera::Plan& rows) {
  register_nearest_kernels();
  const tessera::Plan difference = x.join(query, {1}, {0}, "sub");
  const tessera::Plan projected = difference.join(a, {1}, {0}, "matmul").aggregate({0, 2}, "add");
  const tessera::Plan distance =
      projected.join(difference, {0, 1}, {0, 1}, "mul").transform("row_sum").aggregate({0}, "add");
  const tessera::Plan nearest = distance.join(rows, {0}, {0}, "nearest").aggregate({}, "nearer");
  return {difference, projected, distance, nearest};
}

}  // namespace tasks
