#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "exec/task_graph.h"
#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/tight_memory.h"

namespace tessera {
namespace {

Plan matrix(DType dtype, std::int64_t extent, std::int64_t tile, std::uint64_t seed) {
  return Plan::input(
      Relation::from_tensor(random_uniform(dtype, {extent, extent}, seed), {tile, tile}));
}

std::int64_t bytes_of(const Relation& relation) {
  std::int64_t bytes = 0;
  for (const Tuple& tuple : relation.tuples())
    for (const Tile& tile : tuple.tiles) bytes += tile.bytes();
  return bytes;
}

bool same_bits(const Relation& a, const Relation& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.tuples().size(); ++i) {
    const Tile x = a.tuples()[i].tiles[0].contiguous(), y = b.tuples()[i].tiles[0].contiguous();
    if (x.bytes() != y.bytes() || std::memcmp(x.bytes_begin(), y.bytes_begin(), x.bytes()) != 0)
      return false;
  }
  return true;
}

Relation run_on(const Plan& plan, int threads, RunReport* report = nullptr, int sites = 1) {
  RunOptions options;
  options.threads = threads;
  options.sites = sites;
  return run(plan, options, report);
}

/// A kernel that takes its time, so that a run is still going on when something happens to it.
const char* slow_kernel() {
  static const bool registered = [] {
    register_kernel(
        {.name = "slow_for_testing",
         .description = "the same tile, a millisecond later",
         .infer = [](Types types,
                     const Params&) { return std::vector<TileType>(types.begin(), types.end()); },
         .implementations = {{.name = "sleep", .run = [](Tiles tiles, const Params&) {
                                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                return std::vector<Tile>{MutableTile::copy_of(tiles[0]).publish()};
                              }}}});
    return true;
  }();
  return registered ? "slow_for_testing" : "";
}

TEST(Engine, ProductsAreNotMaterialised) {
  for (const DType dtype : {DType::f64, DType::i64}) {
    const Plan plan = product(matrix(dtype, 240, 20, 1), matrix(dtype, 240, 20, 2));
    RunReport report;
    const Relation result = run_on(plan, 4, &report);
    EXPECT_EQ(report.peak_bytes, bytes_of(result));
    EXPECT_EQ(report.tasks, 12 * 12 * 12);
    EXPECT_EQ(report.flops, 2.0 * 240 * 240 * 240);
  }
}

TEST(Engine, ProductsThatMustBeMadeAreDroppedAtOnce) {
  const Plan a = matrix(DType::f64, 240, 20, 1), b = matrix(DType::f64, 240, 20, 2);
  const Plan plan = a.join(b, {1}, {0}, "matmul").aggregate({0, 2}, "maximum");
  RunReport report;
  const Relation result = run_on(plan, 4, &report);
  const std::int64_t tile = std::int64_t{8} * 20 * 20;
  EXPECT_LE(report.peak_bytes, bytes_of(result) + 8 * tile);
  EXPECT_TRUE(relations_equal(result, plan.interpret()));
}

TEST(Engine, WhatIsReadNoMoreIsDropped) {
  // A chain of transformations over many tiles: few of them are alive at once.
  Plan plan = matrix(DType::f64, 320, 20, 1);
  for (int i = 0; i < 6; ++i) plan = plan.transform("add_scalar(value=1)");
  plan = plan.transform("sum(axes=[0, 1])").aggregate({}, "add");
  RunReport report;
  const Relation result = run_on(plan, 2, &report);
  EXPECT_LE(report.peak_bytes, 2 * 4 * 20 * 20 * 8);
  EXPECT_TRUE(relations_equal(result, plan.interpret()));
}

TEST(Engine, ViewsAndInputsCountNothing) {
  const Plan a = matrix(DType::f64, 64, 16, 1);
  RunReport report;
  (void)run_on(a.tile(0, 4).transform("transpose").rekey("<k2, k0, k1>"), 2, &report);
  EXPECT_LE(report.peak_bytes, 64 * 64 * 8);
  (void)run_on(a.tile(0, 4).filter("k0 = 0"), 2, &report);
  EXPECT_EQ(report.peak_bytes, 0);
  EXPECT_EQ(report.tasks, 64);
}

TEST(Engine, ResultsDoNotDependOnTheThreads) {
  const Plan a = matrix(DType::f32, 320, 64, 1), b = matrix(DType::f32, 320, 64, 2);
  for (const Plan& plan : {product(a, b), product(product(a, b), a).transform("tanh"),
                           a.aggregate({1}, "add").concat(0, 1), a.aggregate({}, "maximum"),
                           a.filter("k0 < 4 and k1 < 4").aggregate({}, "add")}) {
    const Relation one = run_on(plan, 1);
    EXPECT_TRUE(same_bits(one, run_on(plan, 4)));
    EXPECT_TRUE(same_bits(one, run_on(plan, 3)));
  }
}

TEST(Engine, ARunCanBeStoppedAndThePlanRunAgain) {
  const Plan plan = matrix(DType::f64, 1000, 10, 1).transform(slow_kernel());
  std::stop_source source;
  RunOptions options;
  options.threads = 2;
  options.stop = source.get_token();
  std::atomic<std::int64_t> done = 0;
  options.progress_seconds = 0.01;
  options.progress = [&](const Progress& progress) { done = progress.tasks_done; };
  std::thread other([&] {
    while (done == 0) std::this_thread::yield();
    source.request_stop();
  });
  EXPECT_ERROR(Interrupted, plan.run(options), "of 10000 tasks");
  other.join();
  EXPECT_LT(done, 9000);
  EXPECT_ERROR(Interrupted, plan.run(options), "stopped while tasks were planned");
  const Plan fewer = matrix(DType::f64, 40, 10, 1).transform(slow_kernel());
  EXPECT_EQ(fewer.run().size(), 16);
}

TEST(Engine, LittleIsReadAndStoredByWhoRunsThePlan) {
  const auto is_here = [](std::int64_t extent) {
    const auto here = std::this_thread::get_id();
    const TileType type{DType::f64, {extent, extent}};
    std::atomic<int> read_here = 0, stored_here = 0;
    const Plan source = Plan::input({{{"", type}}, {2}}, [&, type](const Key&) {
      read_here += std::this_thread::get_id() == here ? 1 : 0;
      return std::vector<Tile>{Tile::full(type.dtype, type.shape, 3)};
    });
    const TupleSink sink = [&](std::size_t, const Key&, const std::vector<Tile>& tiles) {
      stored_here += std::this_thread::get_id() == here ? 1 : 0;
      EXPECT_EQ(tiles[0].at<double>({0, 0}), -3);
    };
    (void)run_into({source.transform("neg")}, sink, {});
    EXPECT_EQ(read_here, stored_here);
    return read_here == 2;
  };
  EXPECT_TRUE(is_here(2));
  EXPECT_FALSE(is_here(200));
}

TEST(Engine, AnErrorInLittleThatIsReadOrStoredEndsTheRun) {
  const Plan broken = Plan::input({{{"", {DType::f64, {1}}}}, {2}}, [](const Key& key) {
    TESSERA_REQUIRE(IoError, key[0] == 0, "nothing can be read at {}", to_string(key));
    return std::vector<Tile>{Tile::full(DType::f64, {1}, 3)};
  });
  EXPECT_ERROR(IoError, broken.transform("neg").run(), "nothing can be read at <1>");
  const TupleSink full = [](std::size_t, const Key&, const std::vector<Tile>&) {
    throw IoError("the disk is full");
  };
  const Plan small = Plan::input(Relation::from_tensor(Tile::full(DType::f64, {2}, 1), {1}));
  EXPECT_ERROR(IoError, run_into({small.transform("neg")}, full, {}), "the disk is full");
}

TEST(Engine, ProgressGoesOnAndEndsAtAllTasks) {
  const Plan a = matrix(DType::f64, 200, 20, 1);
  const Plan plan = product(a.transform(slow_kernel()), a);
  for (int sites : {1, 4}) {
    RunOptions options;
    options.threads = 3;
    options.sites = sites;
    options.progress_seconds = 0.005;
    std::vector<Progress> told;
    std::atomic<int> inside = 0;
    options.progress = [&](const Progress& progress) {
      EXPECT_EQ(++inside, 1);
      told.push_back(progress);
      --inside;
    };
    RunReport report;
    (void)run(plan, options, &report);
    ASSERT_GE(told.size(), 3U);
    for (std::size_t i = 1; i < told.size(); ++i) {
      EXPECT_GE(told[i].tasks_done, told[i - 1].tasks_done);
      EXPECT_GE(told[i].flops_done, told[i - 1].flops_done);
      EXPECT_GE(told[i].floats_moved, told[i - 1].floats_moved);
      EXPECT_GE(told[i].seconds, told[i - 1].seconds);
      EXPECT_GE(told[i].seconds_left, 0);
    }
    EXPECT_EQ(told.back().tasks_done, told.back().tasks);
    EXPECT_EQ(told.back().tasks, report.tasks);
    EXPECT_EQ(told.back().floats_moved, report.floats_moved);
    EXPECT_EQ(told.back().flops_done, told.back().flops);
    EXPECT_EQ(told.back().seconds_left, 0);
    EXPECT_EQ(sites > 1, report.floats_moved > 0);
  }
}

TEST(Engine, WhatTheCallersFunctionThrowsEndsTheRun) {
  RunOptions options;
  options.progress_seconds = 0;
  options.progress = [](const Progress&) { throw ValueError("enough"); };
  EXPECT_ERROR(ValueError, matrix(DType::f64, 40, 10, 1).transform("neg").run(options), "enough");
}

TEST(Engine, ErrorsNameTheOperatorAndTheKey) {
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < 50; ++i)
    tuples.push_back({{i}, {Tile::full(DType::f64, {2, 2}, 1)}});
  const Plan ones = Plan::input(Relation::of(tuples), "ones");
  for (int threads : {1, 4}) {
    EXPECT_ERROR(ValueError, run_on(ones.transform("inverse"), threads),
                 " of Transform with inverse)");
    EXPECT_ERROR(ValueError, run_on(ones.join(ones, {0}, {0}, "solve"), threads),
                 " of Join <0> = <0> with solve)");
    // In a step that makes a product and folds it, the join failed.
    EXPECT_ERROR(ValueError,
                 run_on(ones.join(ones, {0}, {0}, "solve").aggregate({}, "add"), threads),
                 " of Join <0> = <0> with solve)");
  }
  EXPECT_ERROR(ValueError, run_on(ones.transform("inverse"), 1), "(at key <0> of");
}

TEST(Engine, KeysThatCollideOrAreMissingAreFoundBeforeKernelsRun) {
  const Plan a = matrix(DType::f64, 40, 10, 1);
  const auto zero = KeyFunction::opaque("zero", 1, [](const Key&) { return Key{0}; });
  EXPECT_ERROR(PlanError, a.rekey(zero).run(), "keys must be unique");
  // What could not be decided beforehand is found when the keys are listed.
  EXPECT_ERROR(PlanError, exec::expand(ia::translate(a.rekey(zero), ia::round_robin(3))),
               "both map to <0>; keys must be unique");
  for (int sites : {1, 3})
    EXPECT_ERROR(PlanError, run_on(a.filter("k0 > 0").concat(0, 0), 1, nullptr, sites),
                 "key <0, 0> is missing, so the array at <1, 0> has no predecessor");
}

TEST(Engine, RelationsOfAnyKind) {
  const Plan a = matrix(DType::f64, 60, 10, 1);
  const Tile holed = random_sparse({DType::f64, {60, 60}, 1}, 7, 0.01);
  const Plan sparse =
      Plan::input(Relation::from_tensor(holed, {10, 10}, Presence::sparse), "sparse");
  const Plan empty =
      Plan::input(Relation::empty({{{"", {DType::f64, {10, 10}}}}, {0, 0}}), "empty");
  const std::vector<Apply> both{Apply("add", {0, 1}, {"sum"}), Apply("mul", {0, 1}, {"mul"})};
  const Plan pairs = a.join(a, {0, 1}, {0, 1}, both);
  for (const Plan& plan :
       {a.aggregate({}, "add"), a.aggregate({}, "add").join(a, {}, {}, "add"),
        product(sparse, sparse), product(a, sparse), sparse.transform("exp"),
        sparse.aggregate({0}, "maximum"), sparse.filter("k0 < 3"), empty, product(empty, empty),
        empty.transform("exp").aggregate({0}, "add"), pairs, pairs.aggregate({1}, "add"),
        a.join(a, {1}, {0}, both).aggregate({0, 2}, {"add", "maximum"}),
        a.transform("qr").transform(Apply("matmul", {0, 1})), a.filter("k0 = 2 or k1 = 3"),
        sparse.join(a.filter("k0 = k1"), {0, 1}, {0, 1}, "add")})
    for (int sites : {1, 4}) {
      RunOptions options;
      options.holes = Holes::allowed;
      options.sites = sites;
      options.threads = 3;
      const Relation expected = plan.interpret(Holes::allowed);
      const Relation actual = plan.run(options);
      ASSERT_EQ(actual.type(), expected.type()) << plan.explain();
      ASSERT_EQ(actual.size(), expected.size()) << plan.explain();
      for (std::size_t i = 0; i < actual.tuples().size(); ++i)
        for (std::size_t c = 0; c < actual.tuples()[i].tiles.size(); ++c) {
          const auto x = elements<double>(actual.tuples()[i].tiles[c]);
          const auto y = elements<double>(expected.tuples()[i].tiles[c]);
          ASSERT_EQ(x.size(), y.size());
          for (std::size_t e = 0; e < x.size(); ++e)
            ASSERT_NEAR(x[e], y[e], 1e-9 * (1 + std::abs(y[e]))) << plan.explain();
        }
    }
}

TEST(Engine, TwoRunsAtOnce) {
  const Plan a = matrix(DType::f64, 200, 20, 1), b = matrix(DType::f64, 200, 20, 2);
  const Plan plan = product(a, b);
  const Relation expected = run_on(plan, 1);
  std::vector<std::thread> users;
  users.reserve(2);
  std::atomic<int> right = 0;
  for (int user = 0; user < 2; ++user)
    users.emplace_back([&, user] {
      for (int i = 0; i < 10; ++i) right += same_bits(run_on(plan, 2 + user), expected) ? 1 : 0;
    });
  for (std::thread& user : users) user.join();
  EXPECT_EQ(right, 20);
}

TEST(Engine, DeepPlansNeedNoDeepStack) {
  Plan plan = Plan::input(Relation::of({{{0}, {Tile::scalar(1.0)}}}), "A");
  for (int i = 0; i < 20000; ++i) plan = plan.transform("add_scalar(value=1)");
  RunOptions options;
  options.memory_limit = std::int64_t{1} << 30;  // the plan itself takes some 100 MB
  EXPECT_EQ(plan.run(options).at({0}).at<double>({}), 20001);
}

TEST(Engine, AGraphIsInDepthFirstOrderAndCompact) {
  const Plan plan = product(matrix(DType::f64, 8, 2, 1), matrix(DType::f64, 8, 2, 2));
  const exec::TaskGraph graph =
      exec::expand(ia::translate(plan, ia::round_robin(2)).shuffle(Placement::all(2)));
  ASSERT_EQ(graph.outputs.size(), 32U);  // all copies
  std::vector<bool> made(graph.values.size(), false);
  for (const auto& given : graph.given) made[given.value] = true;
  for (const exec::Task& task : graph.tasks) {
    for (const exec::ValueId input : graph.inputs_of(task)) EXPECT_TRUE(made[input]);
    made[task.output] = true;
    const exec::Value& output = graph.values[task.output];
    EXPECT_EQ(task.site != output.site, task.kind == exec::TaskKind::transfer);
    EXPECT_NE(output.types, exec::unknown_types);
  }
  EXPECT_LE(sizeof(exec::Task), 48U);
}

TEST(Engine, OptionsThatMakeNoSenseAreRefused) {
  const Plan a = matrix(DType::f64, 4, 2, 1);
  EXPECT_ERROR(PlanError, run_on(a, -1), "threads must be at least 0, not -1");
  EXPECT_ERROR(PlanError, run_on(a, 1, nullptr, 0), "invalid number of sites 0");
}

}  // namespace
}  // namespace tessera
