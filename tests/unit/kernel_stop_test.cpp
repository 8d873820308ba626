#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/parallel.h"
#include "base/stop.h"
#include "support/expectations.h"
#include "tessera/kernel.h"
#include "tessera/run.h"

// A stop is heard inside of a kernel, however large its tile is.

namespace tessera {
namespace {

TEST(StopScope, IsHeardByItsThreadWhileItLives) {
  std::stop_source outer, inner;
  EXPECT_FALSE(is_stopped());
  {
    const StopScope statement(outer.get_token());
    {
      const StopScope run(inner.get_token());
      outer.request_stop();
      EXPECT_FALSE(is_stopped());
      inner.request_stop();
      EXPECT_TRUE(is_stopped());
      const NoStop commit;
      EXPECT_FALSE(is_stopped());
      EXPECT_NO_THROW(refuse_if_stopped("all was written"));
    }
    EXPECT_TRUE(is_stopped());
    // What nobody can stop by itself is stopped with what it is part of.
    const StopScope part{std::stop_token()};
    EXPECT_TRUE(is_stopped());
    std::jthread([] { EXPECT_FALSE(is_stopped()); }).join();
    EXPECT_THROW(do_in_parallel(2, 2, [](std::int64_t) { refuse_if_stopped("both worked"); }),
                 Interrupted);
  }
  EXPECT_FALSE(is_stopped());
}

TEST(StopPoll, LooksNowAndThen) {
  std::stop_source source;
  source.request_stop();
  const StopScope stop_scope(source.get_token());
  StopPoll poll("steps were counted");
  EXPECT_NO_THROW(poll.passed(StopPoll::every - 1));
  EXPECT_ERROR(Interrupted, poll.passed(1), "stopped while steps were counted");
}

class KernelStop : public ::testing::Test {
 protected:
  /// Whether the kernel ends at once if it is to stop, and else does not.
  void expect_heard(const KernelCall& kernel, const std::vector<Tile>& tiles) {
    std::stop_source source;
    source.request_stop();
    const StopScope stop_scope(source.get_token());
    EXPECT_THROW((void)kernel.run(tiles), Interrupted) << kernel.to_string();
  }

  const std::int64_t n = 3000;
  const Tile dense = random_normal(DType::f64, {n, n}, 1);
  const Tile whole = random_integers(DType::i64, {1500, 1500}, 2, -9, 9);
  const Tile sparse = random_sparse({DType::f64, {n, n}, 1}, 3, 0.1);
};

TEST_F(KernelStop, ElementByElement) {
  expect_heard("exp", {dense});
  expect_heard("add", {dense, dense.transpose()});
  expect_heard("mul", {dense, Tile::scalar(2.0)});
  expect_heard("add", {random_normal(DType::f64, {n * n}, 4), Tile::scalar(2.0)});
  expect_heard("add", {sparse, random_sparse(sparse.type(), 5, 0.1)});
  expect_heard("mul", {sparse, dense});
}

TEST_F(KernelStop, Reductions) {
  for (const char* name : {"sum", "max", "mean", "argmax", "any"}) {
    expect_heard(KernelCall(name), {dense});
    expect_heard(KernelCall(name, {{"axes", std::int64_t{0}}}), {dense});
    expect_heard(KernelCall(name, {{"axes", std::int64_t{1}}}), {dense});
  }
  expect_heard(KernelCall("sum"), {random_normal(DType::f64, {n * n}, 6)});
  expect_heard(KernelCall("sum", {{"axes", std::int64_t{0}}}),
               {random_sparse({DType::f64, {n, n}, 1}, 7, 0.3)});
  expect_heard("softmax", {dense});
}

TEST_F(KernelStop, Products) {
  expect_heard("matmul", {whole, whole});
  expect_heard("matmul", {sparse, sparse});
  expect_heard("matmul", {sparse, dense});
  expect_heard("matmul", {dense, sparse});
  expect_heard("outer",
               {random_normal(DType::f64, {2000}, 8), random_normal(DType::f64, {2000}, 9)});
  expect_heard("sampled_matmul", {sparse, dense, dense});
}

TEST_F(KernelStop, Convolutions) {
  expect_heard("conv", {random_normal(DType::f64, {8, 200, 200}, 10),
                        random_normal(DType::f64, {8, 8, 3, 3}, 11)});
  expect_heard("conv", {random_normal(DType::f32, {4, 8, 200, 200}, 10),
                        random_normal(DType::f32, {8, 8, 3, 3}, 11)});
}

TEST_F(KernelStop, Rearrangements) {
  expect_heard(KernelCall("reshape", {{"shape", n * n}}), {dense.transpose()});
  expect_heard("concat", {dense, dense});
  expect_heard(KernelCall("cast", {{"dtype", std::string("f32")}}), {dense});
  expect_heard("transpose", {sparse});
  EXPECT_NO_THROW((void)KernelCall("transpose")({dense}));  // a view takes no time
}

/// A product that takes many seconds, in one task: the run ends as soon as it is asked to.
TEST(RunStop, IsHeardInsideOfATask) {
  const Relation large =
      Relation::of({{{0, 0}, {random_integers(DType::i64, {6000, 6000}, 1, -9, 9)}}});
  const Plan product = Plan::input(large, "A")
                           .join(Plan::input(large, "B"), {1}, {0}, "matmul")
                           .aggregate({0, 2}, "add");
  std::stop_source source;
  RunOptions options;
  options.stop = source.get_token();
  options.memory_limit = std::int64_t{2} << 30;
  std::jthread asker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    source.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_ERROR(Interrupted, (void)product.run(options), "the run was stopped after 0 of 1 tasks");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace tessera
