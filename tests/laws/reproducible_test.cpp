// One plan and placement, one result, to the last bit: whatever the number of threads, their luck,
// and how much of it fits into memory. PLANS, RUNS and SEED in the environment make a campaign of
// it (`make reproducible`).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernel/product_blocks.h"
#include "support/rounding_plans.h"
#include "tessera/tessera.h"
#include "tra/relation_hash.h"

namespace tessera {
namespace {

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* said = std::getenv(name);
  return said != nullptr && *said != '\0' ? std::atoll(said) : otherwise;
}

/// As an optimizer places it, or as it was written, dealt out.
ia::Plan placed(const Plan& plan, int sites, bool optimized) {
  if (!optimized) return ia::translate(plan, ia::round_robin(sites));
  OptimizerOptions options;
  options.sites = sites;
  return optimize(plan, options).plan();
}

/// What it takes with all in memory, in quarters: runs that fit into less spill.
std::int64_t tight_limit(const Plan& plan, int quarters) {
  const MemoryForecast all = forecast(plan);
  return std::max(all.needed, all.peak * quarters / 4);
}

TEST(Reproducible, APlanAndPlacementHaveOneResult) {
  const std::int64_t plans = from_environment("PLANS", 12), runs = from_environment("RUNS", 1);
  const auto first = static_cast<std::uint64_t>(from_environment("SEED", 0));
  std::int64_t compared = 0, within_limits = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(plans); ++seed) {
    Random random(seed + 7'000'000);
    const Plan plan = rounding_plan(random);
    for (int sites = 1; sites <= 4; ++sites) {
      const ia::Plan physical = placed(plan, sites, random.chance(0.5));
      std::optional<std::uint64_t> expected;
      for (int threads = 1; threads <= 8; ++threads)
        for (std::int64_t again = 0; again < runs; ++again) {
          RunOptions options;
          options.threads = threads;
          const bool is_tight = (threads + again) % 4 == 3;
          if (is_tight) options.memory_limit = tight_limit(plan, 3);
          std::uint64_t found = 0;
          try {
            found = hash_of(run(physical, options));
          } catch (const OutOfMemory&) {
            continue;  // of sparse tiles it is not known beforehand how much they need
          }
          if (!expected) expected = found;
          ++compared;
          within_limits += is_tight ? 1 : 0;
          ASSERT_EQ(found, *expected) << "seed " << seed << ", " << sites << " sites, " << threads
                                      << " threads, run " << again << "\n"
                                      << physical.explain();
        }
    }
  }
  EXPECT_GT(compared, plans * runs * 24);  // of 32: few of the tight ones are refused
  EXPECT_GT(within_limits, 0);
  fmt::print("{} plans, {} runs compared, {} of them within a limit of memory\n", plans, compared,
             within_limits);
}

TEST(Reproducible, AProductInTilesOnTwoThreads) {
  const Tile a = random_normal(DType::f64, {800, 800}, 1),
             b = random_normal(DType::f64, {800, 800}, 2);
  const Plan left = Plan::input(Relation::from_tensor(a, {200, 200}), "A");
  const Plan right = Plan::input(Relation::from_tensor(b, {200, 200}), "B");
  const Plan product = left.join(right, {1}, {0}, "matmul").aggregate({0, 2}, "add");
  RunOptions options;
  options.threads = 1;
  const std::uint64_t alone = hash_of(run(product, options));
  for (int again = 0; again < 20; ++again) {
    options.threads = 2 + again % 3;
    EXPECT_EQ(hash_of(run(product, options)), alone) << "run " << again;
  }
}

/// One tile each: the work is inside the calls of libraries.
TEST(Reproducible, OneLargeTile) {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{700, 650}, {650, 1100}}, {{1, 3000}, {3000, 900}}, {{2500, 700}, {700, 1}},
      {{3, 2500}, {2500, 2100}}, {{1, 40000}, {40000, 1}}, {{1000, 30}, {30, 1000}}};
  for (const DType dtype : {DType::f32, DType::f64})
    for (const auto& [m, n] : shapes) {
      const Plan left = Plan::input(Relation::from_tensor(random_normal(dtype, m, 1), m), "A");
      const Plan right = Plan::input(Relation::from_tensor(random_normal(dtype, n, 2), n), "B");
      const Plan product = left.join(right, {1}, {0}, "matmul");
      std::optional<std::uint64_t> expected;
      for (int threads = 1; threads <= 8; ++threads) {
        RunOptions options;
        options.threads = threads;
        const std::uint64_t found = hash_of(run(product, options));
        if (!expected) expected = found;
        EXPECT_EQ(found, *expected) << to_string(m) << " by " << to_string(n);
        EXPECT_EQ(hash_of(product.interpret()), *expected) << "outside a run";
      }
    }
}

/// The blocks of a product cover it, are bounded, and are enough for several threads.
TEST(Reproducible, BlocksFollowFromTheShape) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto extent = [&] { return random.between(1, std::int64_t{1} << random.between(0, 24)); };
    const std::int64_t m = extent(), n = extent(), k = extent();
    const ProductBlocks blocks = product_blocks(m, n, k);
    ASSERT_TRUE(blocks.rows >= 1 && blocks.rows <= m && blocks.columns >= 1 &&
                blocks.columns <= n && blocks.inner >= 1 && blocks.inner <= k);
    const double work = static_cast<double>(blocks.rows) * static_cast<double>(blocks.columns) *
                        static_cast<double>(blocks.inner);
    ASSERT_LE(work, 2.2e9) << m << " " << n << " " << k;
  }
  const ProductBlocks square = product_blocks(2000, 2000, 2000);
  EXPECT_LE(square.rows, 504);
  EXPECT_LE(product_blocks(4000, 4000, 4000).rows, 256);
  EXPECT_EQ(product_blocks(200, 200, 200).rows, 200);
}

}  // namespace
}  // namespace tessera
