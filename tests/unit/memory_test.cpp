#include <gtest/gtest.h>

#include <mutex>

#include "base/bytes.h"
#include "exec/memory_limit.h"
#include "exec/task_order.h"
#include "support/expectations.h"
#include "support/tight_memory.h"

namespace tessera {
namespace {

TEST(Memory, BytesAreReadAndWrittenAsPeopleDo) {
  EXPECT_EQ(parse_bytes("512MB"), 512'000'000);
  EXPECT_EQ(parse_bytes("2 GiB"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("64m"), 64'000'000);
  EXPECT_EQ(parse_bytes("1.5k"), 1500);
  EXPECT_EQ(parse_bytes("1000"), 1000);
  EXPECT_EQ(parse_bytes("12b"), 12);
  for (const char* wrong : {"", "MB", "12 apples", "-3MB", "5mbit"})
    EXPECT_THROW(parse_bytes(wrong), TypeError) << wrong;
  EXPECT_EQ(bytes_text(512'000'000), "512 MB");
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1), "1 byte");
  EXPECT_EQ(bytes_text(1'500'000), "1.50 MB");
  EXPECT_GT(exec::default_memory_limit(), 0);
}

TEST(Memory, AProductRunsInLittleMemory) {
  const Plan plan = product(from_source(512, 32, 1), from_source(512, 32, 7000));
  const Relation wanted = plan.run();
  const std::int64_t result = 16 * 16 * tile_bytes;
  for (const int threads : {1, 2, 4}) {
    RunReport report;
    const RunOptions options = within(result + 24 * tile_bytes, threads);
    EXPECT_TRUE(relations_equal(run(plan, options, &report), wanted)) << threads;
    EXPECT_LE(report.peak_bytes, options.memory_limit) << threads;
  }
}

TEST(Memory, ResultsThatAreHandedOverNeedNoMemory) {
  const Plan plan = product(from_source(512, 32, 1), from_source(512, 32, 7000));
  const Relation wanted = plan.run();
  for (const int tiles : {8, 12, 40, 100, 300}) {
    std::mutex mutex;
    std::vector<Tuple> tuples;
    std::int64_t handed_over = 0;
    RunReport report;
    const RunOptions options = within(tiles * tile_bytes);
    const auto results = run_into(
        {plan},
        [&](std::size_t, const Key& key, const std::vector<Tile>& tile) {
          const std::lock_guard lock(mutex);
          tuples.push_back({key, {MutableTile::copy_of(tile[0]).publish()}});
          ++handed_over;
        },
        options, &report);
    EXPECT_EQ(handed_over, 256);
    EXPECT_EQ(results.front().type, wanted.type());
    EXPECT_EQ(results.front().tuples.size(), 256u);
    EXPECT_TRUE(relations_equal(Relation::of(tuples), wanted)) << tiles;
    EXPECT_LE(report.peak_bytes, options.memory_limit) << tiles;
    // Accumulators stay, sources are read again; where there is room for little else than what two
    // threads work on, it depends on who is first.
    if (tiles >= 40) EXPECT_EQ(report.bytes_spilled, 0) << tiles;
  }
}

TEST(Memory, SourcesAreResultsToo) {
  const Plan a = from_source(512, 32, 1);
  for (const std::int64_t tiles : {20, 2000}) {
    std::mutex mutex;
    std::vector<std::vector<Tuple>> results(2);
    RunReport report;
    const RunOptions options = within(tiles * tile_bytes);
    (void)run_into(
        {a, product(a, a)},
        [&](std::size_t result, const Key& key, const std::vector<Tile>& tile) {
          const std::lock_guard lock(mutex);
          results[result].push_back({key, {MutableTile::copy_of(tile[0]).publish()}});
        },
        options, &report);
    EXPECT_TRUE(relations_equal(Relation::of(results[0]), a.run())) << tiles;
    EXPECT_TRUE(relations_equal(Relation::of(results[1]), product(a, a).run())) << tiles;
    EXPECT_LE(report.peak_bytes, (tiles + 2) * tile_bytes) << tiles;  // a copy for each I/O thread
  }
}

TEST(Memory, IntermediatesAreSpilledAndComeBack) {
  // Every tile of the transformed matrix is needed by a row and by a column of products.
  const Plan a = from_source(256, 32, 1).transform("exp");
  const Plan plan = product(a, a).aggregate({}, "add");
  const Relation wanted = plan.run();
  RunReport report;
  const RunOptions options = within(20 * tile_bytes);
  EXPECT_TRUE(relations_equal(run(plan, options, &report), wanted));
  EXPECT_LE(report.peak_bytes, options.memory_limit);
  EXPECT_GT(report.bytes_spilled, 0);
}

TEST(Memory, AChainReadsItsInputOnce) {
  auto reads = std::make_shared<std::atomic<int>>(0);
  Plan plan = from_source(1024, 32, 1, reads);
  for (int i = 0; i < 4; ++i) plan = plan.transform("add_scalar(value=1)");
  plan = plan.transform("sum(axes=[0, 1])").aggregate({}, "add");
  RunReport report;
  const RunOptions options = within(16 * tile_bytes);
  const Relation result = run(plan, options, &report);
  EXPECT_EQ(*reads, 32 * 32);
  EXPECT_EQ(report.bytes_read, 1024 * 1024 * 8);
  EXPECT_EQ(report.bytes_spilled, 0);
  EXPECT_LE(report.peak_bytes, options.memory_limit);
  EXPECT_TRUE(relations_equal(result, plan.run()));
}

TEST(Memory, WhatCannotFitIsRefusedBeforeItRuns) {
  auto reads = std::make_shared<std::atomic<int>>(0);
  const Plan a = from_source(256, 32, 1, reads);
  EXPECT_ERROR(OutOfMemory, run(product(a, a), within(2 * tile_bytes)),
               "the run needs 524 kB of memory, but the limit is 16.4 kB");
  EXPECT_ERROR(OutOfMemory, run_into({product(a, a)}, nowhere, within(2 * tile_bytes)),
               "the run needs 24.6 kB of memory");
  EXPECT_EQ(*reads, 0);
  const MemoryForecast forecast = tessera::forecast(product(a, a), within(2 * tile_bytes));
  EXPECT_EQ(forecast.needed, 64 * tile_bytes);
}

TEST(Memory, BoxesOfResultsReadLess) {
  const Plan plan = product(from_source(1024, 32, 1), from_source(1024, 32, 99));
  const std::vector<bool> mine{true};
  exec::TaskGraph graph = exec::expand(ia::fused(ia::translate({plan}, ia::round_robin(1))));
  const exec::ValueSizes sizes = exec::predicted_sizes(graph);
  const exec::RunSetup under{mine, sizes, 48 * tile_bytes, 2, false};
  const std::int64_t depth_first = exec::forecast(graph, under).read;
  const exec::ChosenOrder chosen = exec::choose_order(graph, under);
  EXPECT_LT(chosen.forecast.read * 2, depth_first);
  EXPECT_FALSE(chosen.box.empty());
  EXPECT_EQ(chosen.forecast.read, exec::forecast(graph, under).read);  // the graph has that order
}

}  // namespace
}  // namespace tessera
