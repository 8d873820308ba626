// The product of two matrices, on one machine or on a cluster:
//
//   multiply_distributed --shape 4000x4000x4000
//   mpirun -n 4 multiply_distributed --shape 4000x4000x4000
//
// The optimizer decides where the inputs lie and how the product is computed; each process makes
// only the tiles that it holds.

#include <algorithm>
#include <cmath>
#include <iostream>

#include "tasks/arguments.h"
#include "tasks/cluster.h"
#include "tasks/multiplication.h"

using namespace tessera;

namespace {

struct Options {
  std::int64_t m = 4000, k = 4000, n = 4000;
  std::int64_t tile_m = 0, tile_k = 0, tile_n = 0;  // in how many tiles; 0: chosen
  int repeat = 1, threads = 0, sites = 1;
  bool json = false, explain = false, check = false;
  DType dtype = DType::f64;
};

Options parse(int argc, char** argv) {
  tasks::Arguments given(
      argc, argv,
      "multiply_distributed [--shape MxKxN] [--tiles MxKxN] [--repeat R] [--threads T]\n"
      "                     [--sites S] [--f32] [--explain] [--check] [--json]\n"
      "C = A B with A of M x K and B of K x N; --tiles is the number of tiles in each dimension "
      "and\n"
      "must divide the shape; --sites is the number of logical sites without a cluster\n");
  Options options;
  const auto three = [&](const char* name, std::int64_t& a, std::int64_t& b, std::int64_t& c) {
    const std::string said = given.text(name, "");
    if (said.empty()) return;
    long long x = 0, y = 0, z = 0;
    char rest = 0;
    if (std::sscanf(said.c_str(), "%lldx%lldx%lld%c", &x, &y, &z, &rest) != 3 || x < 1 || y < 1 ||
        z < 1)
      given.stop(2);
    a = x, b = y, c = z;
  };
  three("--shape", options.m, options.k, options.n);
  three("--tiles", options.tile_m, options.tile_k, options.tile_n);
  options.repeat = static_cast<int>(given.number("--repeat", options.repeat));
  options.threads = static_cast<int>(given.number("--threads", options.threads));
  options.sites = static_cast<int>(given.number("--sites", options.sites));
  if (given.flag("--f32")) options.dtype = DType::f32;
  options.json = given.flag("--json");
  options.explain = given.flag("--explain");
  options.check = given.flag("--check");
  given.end();
  if (options.tile_m > 0 && (options.m % options.tile_m != 0 || options.k % options.tile_k != 0 ||
                             options.n % options.tile_n != 0))
    given.stop(2);
  return options;
}

/// Into how many tiles of about this size a dimension is cut: the divisor nearest to that.
std::int64_t tiles_of(std::int64_t extent, double size) {
  std::int64_t best = 1;
  double distance = 1e300;
  for (std::int64_t tiles = 1; tiles <= extent && tiles <= 256; ++tiles) {
    if (extent % tiles != 0) continue;
    const double off =
        std::fabs(std::log(static_cast<double>(tiles) * size / static_cast<double>(extent)));
    if (off < distance) {
      distance = off;
      best = tiles;
    }
  }
  return best;
}

/// Tiles as large as the sites allow, for the sake of the BLAS: each has some of the result, and
/// the common dimension comes in steps, so that the first products start before everything is
/// there. Where that dimension is by far the largest each site has one part of it, and only sums
/// travel.
void choose_tiles(Options& options, int sites) {
  const bool by_sums = options.k >= 16 * std::max(options.m, options.n);
  double size = 2000;
  const auto results = [&] { return tiles_of(options.m, size) * tiles_of(options.n, size); };
  while (!by_sums && size > 250 && results() < sites) size /= 2;
  if (options.tile_n == 0) options.tile_n = tiles_of(options.n, size);
  if (options.tile_m == 0) options.tile_m = tiles_of(options.m, size);
  if (options.tile_k == 0)
    options.tile_k = tiles_of(options.k, by_sums ? static_cast<double>(options.k) / sites : 500);
}

/// Into how many pieces the tiles of the result are cut so that each site has some.
std::int64_t pieces_of(const Options& options, int sites) {
  const std::int64_t rows = options.m / options.tile_m;
  std::int64_t pieces = 1;
  while (pieces < rows && (rows % pieces != 0 || options.tile_m * options.tile_n * pieces < sites))
    ++pieces;
  return pieces;
}

}  // namespace

int main(int argc, char** argv) {
  return tasks::program([&] {
    Options options = parse(argc, argv);
    const ClusterInfo cluster = cluster_info();
    const int sites = cluster.size > 1 ? cluster.size : options.sites;
    choose_tiles(options, sites);
    const std::int64_t pieces = pieces_of(options, sites);
    const std::int64_t m_tiles = options.tile_m, k_tiles = options.tile_k, n_tiles = options.tile_n;

    const Plan a = tasks::made_input(
        "A", tasks::matrix(options.m, options.k, m_tiles, k_tiles, options.dtype), 1);
    const Plan b = tasks::made_input(
        "B", tasks::matrix(options.k, options.n, k_tiles, n_tiles, options.dtype), 2);
    OptimizerOptions optimizer;
    optimizer.sites = sites;
    optimizer.placed = [](const Plan&) { return std::nullopt; };  // wherever it is best
    optimizer.alternatives = options.explain;
    const OptimizedPlan optimized =
        optimize(pieces == 1 ? tasks::product(a, b)
                             : tasks::product_in_pieces(a, b, options.m / m_tiles / pieces),
                 optimizer);
    if (options.explain && cluster.rank == 0) std::cout << optimized.explain() << std::flush;

    // Every process makes its tiles before the clock starts.
    for (const ia::Plan& node : ia::in_order(optimized.plans))
      if (const auto* input = std::get_if<op::Input>(&operator_of(node.logical())))
        if (std::holds_alternative<ia::Input>(ia::operator_of(node))) {
          Key key(input->type.frontier.size(), 0);
          for (key[0] = 0; key[0] < input->type.frontier[0]; ++key[0])
            for (key[1] = 0; key[1] < input->type.frontier[1]; ++key[1])
              for (int site : node.placement().holders(key))
                if (site % cluster.size == cluster.rank) (void)input->source(key);
        }

    RunOptions run_options;
    run_options.threads = options.threads;
    for (int repetition = 0; repetition < options.repeat; ++repetition) {
      tasks::wait_for_all();
      const auto start = std::chrono::steady_clock::now();
      RunReport report;
      const std::vector<LocalPart> parts = run_in_place(optimized.plans, run_options, &report);
      tasks::wait_for_all();
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (options.check) {
        // Each process compares one of its tiles with the product of the rows and columns it is of.
        if (!parts[0].tuples.empty()) {
          const Tuple& tuple = parts[0].tuples[parts[0].tuples.size() / 2];
          Tile expected = Tile::zeros(tuple.tiles[0].dtype(), tuple.tiles[0].shape());
          const auto& left = std::get<op::Input>(operator_of(a));
          const auto& right = std::get<op::Input>(operator_of(b));
          const std::int64_t rows = tuple.tiles[0].shape()[0];
          const std::int64_t first = tuple.key.size() == 3 ? tuple.key[2] * rows : 0;
          for (std::int64_t k = 0; k < k_tiles; ++k) {
            const Tile whole = left.source({tuple.key[0], k})[0];
            const Tile part = whole.slice({first, 0}, {first + rows, whole.shape()[1]});
            expected = KernelCall("add")(
                {expected, KernelCall("matmul")({part, right.source({k, tuple.key[1]})[0]})});
          }
          const Tile difference = KernelCall("max")(
              {KernelCall("abs")({KernelCall("sub")({expected, tuple.tiles[0]})})});
          const double worst = difference.at<double>({});
          const double bound = options.dtype == DType::f64 ? 1e-9 : 1e-2;
          if (!(worst < bound))
            throw InternalError("the product is off by " + std::to_string(worst));
        }
      }
      if (cluster.rank != 0) continue;
      const double bytes =
          optimized.cost.total.floats_moved * static_cast<double>(size_of(options.dtype));
      if (options.json)
        std::printf(
            "{\"tool\":\"tessera\",\"form\":\"%s\",\"shape\":\"%lldx%lldx%lld\",\"ranks\":%d,"
            "\"seconds\":%.6f,\"predicted_bytes\":%.0f,\"planning_seconds\":%.6f}\n",
            optimized.algorithm.c_str(), static_cast<long long>(options.m),
            static_cast<long long>(options.k), static_cast<long long>(options.n), sites, seconds,
            bytes, optimized.planning_seconds);
      else
        std::printf("%lld x %lld x %lld on %d site%s: %.3f s, %.1f MB predicted to move (%s)\n",
                    static_cast<long long>(options.m), static_cast<long long>(options.k),
                    static_cast<long long>(options.n), sites, sites == 1 ? "" : "s", seconds,
                    bytes * 1e-6, optimized.algorithm.c_str());
      std::fflush(stdout);
    }
  });
}
