// The account that everything a statement allocates counts in.

#include "base/memory_account.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/parallel.h"
#include "exec/statement_memory.h"
#include "support/expectations.h"
#include "support/tight_memory.h"
#include "tessera/session.h"
#include "tile/buffer.h"

namespace tessera {
namespace {

constexpr std::int64_t mb = 1'000'000;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool counts_heap = false;
#else
constexpr bool counts_heap = true;
#endif

/// In MB.
double held_in(const MemoryAccount& account) { return static_cast<double>(account.held()) / 1e6; }

TEST(MemoryAccount, WhatDoesNotFitIsRefusedBeforeItIsAllocated) {
  const auto account = std::make_shared<MemoryAccount>(10 * mb);
  const OpenAccount open(account);
  EXPECT_ERROR(OutOfMemory, Tile::zeros({DType::f64, {100'000'000'000}}),
               "800 GB more memory is needed, 800 GB in total, but the limit is 10.0 MB");
  EXPECT_LE(account->held(), mb);
}

TEST(MemoryAccount, TilesCountAsLongAsTheyAreThere) {
  const auto account = std::make_shared<MemoryAccount>(1000 * mb);
  {
    const OpenAccount open(account);
    const Tile tile = Tile::zeros({DType::f64, {1'000'000}});
    EXPECT_NEAR(held_in(*account), 8, 1);
  }
  EXPECT_NEAR(held_in(*account), 0, 1);
}

TEST(MemoryAccount, OtherThreadsCountToo) {
  const auto account = std::make_shared<MemoryAccount>(1000 * mb);
  const OpenAccount open(account);
  std::vector<Tile> tiles(4);
  do_in_parallel(4, 4, [&](std::int64_t i) { tiles[i] = Tile::zeros({DType::f64, {1'000'000}}); });
  EXPECT_NEAR(held_in(*account), 32, 1);
}

TEST(MemoryAccount, TheHeapCounts) {
  if (!counts_heap) GTEST_SKIP();
  const auto account = std::make_shared<MemoryAccount>(10 * mb);
  const OpenAccount open(account);
  const auto grow = [] {
    std::vector<std::string> texts;
    for (;;) {
      texts.emplace_back(1000, 'x');
      look_at_memory("texts");
    }
  };
  EXPECT_ERROR(OutOfMemory, grow(), "the limit is 10.0 MB");
  EXPECT_LE(account->held(), mb);
  EXPECT_ERROR(OutOfMemory, std::vector<char>(1'000'000'000), "1.00 GB more memory is needed");
}

TEST(MemoryAccount, OneInsideAnotherIsTheOuterOne) {
  const exec::StatementMemory outer(50 * mb);
  const auto account = MemoryAccount::current();
  const exec::StatementMemory inner(5 * mb);
  EXPECT_EQ(MemoryAccount::current(), account);
}

TEST(MemoryAccount, WhatAChainHandsOnIsForecast) {
  const TileType type{DType::f64, {20'000}};
  const Plan plan = Plan::input({{{"", type}}, {2}},
                                [=](const Key&) { return std::vector<Tile>{Tile::zeros(type)}; })
                        .transform(Apply("outer", {0, 0}))
                        .transform("neg")
                        .transform("transpose")
                        .transform("sum");
  // Two matrices of 3.2 GB are there at once: the transpose of one is a view of it.
  const MemoryForecast forecast = tessera::forecast(plan, within(64 * mb));
  EXPECT_GE(forecast.needed, 2 * 3'200 * mb);
  EXPECT_LE(forecast.needed, 2 * 3'200 * mb + mb);
  EXPECT_ERROR(OutOfMemory, run(plan, within(64 * mb)), "the run needs 6.40 GB of memory");
}

TEST(MemoryAccount, DenseCopiesOfSparseTilesAreForecast) {
  const TileType type{DType::f64, {20'000, 20'000}, 1};
  const Plan plan = Plan::input({{{"", type}}, {2}},
                                [=](const Key&) { return std::vector<Tile>{Tile::zeros(type)}; })
                        .transform("softmax")
                        .transform("sum");
  EXPECT_GE(tessera::forecast(plan, within(64 * mb)).needed, 3'200 * mb);
}

TEST(MemoryAccount, StatementsAreRefusedWithWhatTheyNeed) {
  SessionOptions options;
  options.run.memory_limit = 64 * mb;
  Session session(Database::temporary(), options);
  for (const char* much :
       {"SELECT sum_elements(tile([1.0], repeats = [500000000]))",
        "SELECT sum_elements(pad([1.0], before = [0], after = [500000000]))",
        "SELECT outer(tile([1.0], repeats = [22361]), tile([1.0], repeats = [22361]))"})
    EXPECT_ERROR(StatementError, session.execute(much), "4.00 GB");
  EXPECT_EQ(session.query("SELECT 1 AS one").rows(), 1);
}

}  // namespace
}  // namespace tessera
