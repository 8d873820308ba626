// The nearest of many points to a query, in a metric of one's own, on one machine or a cluster:
//
//   nearest_neighbour --points 24000 --features 600
//   mpirun -n 4 nearest_neighbour --points 600 --features 4000
//
// With many points the optimizer splits the points, with many features the features.

#include "tasks/nearest_neighbour.h"

#include <iostream>

#include "tasks/arguments.h"
#include "tasks/cluster.h"
#include "tasks/multiplication.h"

using namespace tessera;

namespace {

struct Options {
  std::int64_t points = 4000, features = 400, tiles = 4;
  int sites = 1;
  bool explain = false;
};

Options parse(int argc, char** argv) {
  tasks::Arguments given(
      argc, argv,
      "nearest_neighbour [--points N] [--features D] [--tiles T] [--sites S] [--explain]\n"
      "N and D are split into T tiles each and must be divisible by T\n");
  Options options;
  options.points = given.number("--points", options.points);
  options.features = given.number("--features", options.features);
  options.tiles = given.number("--tiles", options.tiles);
  options.sites = static_cast<int>(given.number("--sites", options.sites));
  options.explain = given.flag("--explain");
  given.end();
  if (options.points % options.tiles != 0 || options.features % options.tiles != 0) given.stop(2);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  return tasks::program([&] {
    const Options o = parse(argc, argv);
    const ClusterInfo cluster = cluster_info();
    const auto vector_of = [&](std::int64_t extent, const Shape& tile) {
      return RelationType{{{"", {DType::f64, tile, 0}}}, {extent}};
    };
    const std::int64_t rows = o.points / o.tiles;
    const Plan x = tasks::made_input("X", tasks::matrix(o.points, o.features, o.tiles, o.tiles), 1);
    // The identity and a little noise: distances come out positive.
    const RelationType metric = tasks::matrix(o.features, o.features, o.tiles, o.tiles);
    const Plan noise = tasks::made_input("noise", metric, 2);
    const Plan a = Plan::input(
        metric,
        [&](const Key& key) {
          const Tile some = std::get<op::Input>(operator_of(noise)).source(key).front();
          MutableTile tile = MutableTile::copy_of(
              KernelCall("div_scalar", {{"value", static_cast<double>(o.features)}})({some}));
          const std::int64_t side = tile.shape()[0];
          for (std::int64_t i = 0; i < side && key[0] == key[1]; ++i)
            tile.data<double>()[i * side + i] += 1;
          return std::vector<Tile>{std::move(tile).publish()};
        },
        "A");
    const Plan query = tasks::made_input("q", vector_of(o.tiles, {1, o.features / o.tiles}), 3);
    const Plan numbers = Plan::input(
        vector_of(o.tiles, {rows}),
        [rows](const Key& key) {
          std::vector<double> values;
          for (std::int64_t i = 0; i < rows; ++i)
            values.push_back(static_cast<double>(key[0] * rows + i));
          return std::vector<Tile>{Tile::of<double>({rows}, values)};
        },
        "rows");
    const tasks::NearestNeighbour search = tasks::nearest_neighbour(x, query, a, numbers);
    OptimizerOptions optimizer;
    optimizer.sites = cluster.size > 1 ? cluster.size : o.sites;
    const OptimizedPlan optimized = optimize(search.nearest, optimizer);
    if (o.explain && cluster.rank == 0) std::cout << optimized.explain() << std::flush;
    const Tile nearest = run(optimized.plans).front().at({});
    if (cluster.rank == 0)
      std::cout << "nearest of " << o.points << " points: row " << nearest.at<double>({1})
                << " at distance " << nearest.at<double>({0}) << "\n";
  });
}
