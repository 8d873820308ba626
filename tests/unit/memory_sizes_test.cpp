// Sizes that are not known beforehand, and tiles that show a part of what they hold: neither takes
// a run beyond its limit.

#include <gtest/gtest.h>

#include "exec/value_sizes.h"
#include "support/expectations.h"
#include "support/tight_memory.h"

namespace tessera {
namespace {

/// A full sparse tile of 64 x 64: entries with their coordinates, and where rows begin.
constexpr std::int64_t full_tile = 64 * 64 * 16 + 65 * 8;

TEST(MemorySizes, SparseResultsThatAreHandedOverStayBelowTheLimit) {
  // A tile of the product is full, sixteen times what is guessed.
  const Plan plan = product(from_sparse_source(1024, 64, 0.3), from_sparse_source(1024, 64, 0.3));
  for (const int threads : {1, 2, 4}) {
    RunReport report;
    const RunOptions options = within(24 * full_tile, threads);
    (void)run_into({plan}, nowhere, options, &report);
    // Tasks that are at work when it is found out may go beyond it, one output each.
    EXPECT_LE(report.peak_bytes, options.memory_limit + (threads - 1) * full_tile) << threads;
  }
}

TEST(MemorySizes, OuterProductsOfSparseTilesStayBelowTheLimit) {
  const auto column = [](bool turned) {
    const TileType type{DType::f64, {64, 64}, 1};
    return Plan::input({{{"", type}}, turned ? Key{1, 16} : Key{16, 1}}, [=](const Key&) {
      MutableTile dense = MutableTile::zeros(DType::f64, {64, 64});
      for (int i = 0; i < 64; ++i) dense.data<double>()[turned ? i : 64 * i] = 1;
      return std::vector<Tile>{std::move(dense).publish().with_sparse_dims(1)};
    });
  };
  const Plan plan = product(column(false), column(true));
  RunReport report;
  const RunOptions options = within(12 * full_tile);
  (void)run_into({plan}, nowhere, options, &report);
  EXPECT_LE(report.peak_bytes, options.memory_limit);
}

TEST(MemorySizes, SparseResultsThatDoNotFitAreAnError) {
  const Plan plan = product(from_sparse_source(1024, 64, 0.3), from_sparse_source(1024, 64, 0.3));
  std::int64_t most = 0;
  RunOptions options = within(100 * full_tile);
  options.progress = [&](const Progress& now) { most = std::max(most, now.bytes_live); };
  options.progress_seconds = 0;
  EXPECT_ERROR(OutOfMemory, run(plan, options), "the part of the result that is computed needs 6.");
  EXPECT_LE(most, options.memory_limit);
  // All of it is 256 tiles: it fits to the byte, and not with one less.
  const Relation wanted = plan.run();
  std::int64_t bytes = 0;
  for (const Tuple& tuple : wanted.tuples()) bytes += tuple.tiles[0].bytes();
  EXPECT_TRUE(relations_equal(run(plan, within(bytes)), wanted));
  EXPECT_THROW(run(plan, within(bytes - 1)), OutOfMemory);
}

TEST(MemorySizes, AGuessRefusesNothing) {
  // Nearly empty tiles of 10^10 elements, which would be guessed to take more than the limit.
  const TileType type{DType::f64, {100000, 100000}, 2};
  const Plan plan = Plan::input({{{"", type}}, {4, 4}}, [=](const Key& key) {
                      return std::vector<Tile>{Tile::zeros(type)};
                      (void)key;
                    }).transform("neg");
  RunReport report;
  const Relation result = run(plan, within(1'000'000), &report);
  EXPECT_EQ(result.tuples().size(), 16u);
  EXPECT_LE(report.peak_bytes, 1'000'000);
}

TEST(MemorySizes, ABoundIsOne) {
  const Plan plan = from_sparse_source(256, 64, 1).transform("neg");
  const exec::TaskGraph graph = exec::expand(ia::translate({plan}, ia::round_robin(1)));
  const exec::ValueSizes sizes = exec::predicted_sizes(graph);
  RunReport report;
  (void)run(plan, {}, &report);
  EXPECT_EQ(exec::most_bytes(graph, {true}, sizes, 2), 2 * 16 * full_tile);
  EXPECT_LE(report.peak_bytes, 2 * 16 * full_tile);
}

/// Tall tiles cut into pieces, of which each result has one of every tile.
Plan cut_and_joined(std::shared_ptr<std::atomic<int>> reads = nullptr) {
  const RelationType type{{{"", {DType::f64, {640, 16}}}}, {1, 20}};
  return Plan::input(type,
                     [=](const Key& key) {
                       if (reads) ++*reads;
                       return std::vector<Tile>{random_uniform(DType::f64, {640, 16},
                                                               static_cast<std::uint64_t>(key[1]))};
                     })
      .tile(0, 32)
      .concat(1, 1);
}

TEST(MemorySizes, PiecesOfATileDoNotHoldAllOfIt) {
  const Plan plan = cut_and_joined();
  const Relation wanted = plan.run();
  for (const std::int64_t limit : {300'000, 500'000, 900'000})
    for (const int threads : {1, 2, 4}) {
      RunReport report;
      (void)run_into({plan}, nowhere, within(limit, threads), &report);
      EXPECT_LE(report.peak_bytes, limit) << limit << " " << threads;
      EXPECT_TRUE(relations_equal(run(plan, within(limit + 20 * 640 * 16 * 8, threads)), wanted));
    }
}

TEST(MemorySizes, WhatIsCutIsReadAboutOnce) {
  for (const std::int64_t limit : {300'000, 500'000, 900'000}) {
    auto reads = std::make_shared<std::atomic<int>>(0);
    const Plan plan = cut_and_joined(reads);
    EXPECT_EQ(forecast(plan, within(limit), Results::handed_over).order,
              "1 x 20 results at a time, input by input");
    RunReport report;
    (void)run_into({plan}, nowhere, within(limit), &report);
    EXPECT_LE(*reads, 2 * 20) << limit;  // a tile may have to make room between two of its pieces
    EXPECT_LE(report.bytes_spilled, 20 * 20 * (32 * 16 * 8 + 200)) << limit;
  }
}

TEST(MemorySizes, ViewsOfWhatTheUserHoldsCountNothing) {
  const Relation held =
      Relation::from_tensor(random_uniform(DType::f64, {640, 640}, 1), Shape{64, 64});
  const Plan turned = Plan::input(held).transform("transpose");
  const Plan plan = product(turned, turned).aggregate({}, "add");
  RunReport report;
  const RunOptions options = within(20 * 64 * 64 * 8);
  EXPECT_TRUE(relations_equal(run(plan, options, &report), plan.run()));
  EXPECT_LE(report.peak_bytes, options.memory_limit);
  EXPECT_EQ(report.bytes_spilled, 0);
}

TEST(MemorySizes, ResultsThatOthersReadAreStoredOnce) {
  const Plan a = from_source(256, 32, 1).transform("exp");
  for (const std::int64_t tiles : {10, 20, 40}) {
    std::atomic<int> stored = 0;
    RunReport report;
    (void)run_into(
        {a, product(a, a)}, [&](std::size_t, const Key&, const std::vector<Tile>&) { ++stored; },
        within(tiles * tile_bytes), &report);
    EXPECT_EQ(stored, 128);
    EXPECT_GT(report.bytes_spilled, 0);
    EXPECT_LE(report.peak_bytes, tiles * tile_bytes);
  }
}

}  // namespace
}  // namespace tessera
