// What must hold of every cut into frames: that it can be executed, is within its limits and costs
// what it says; that nothing simple is better; and that the optimum, where it can be known, is
// near.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/cut_baselines.h"
#include "support/exact_cut.h"
#include "support/random_graphs.h"
#include "support/unrolled_plans.h"

namespace tessera {
namespace {

using frames::Cut;
using frames::Limits;
using frames::OperatorGraph;

Limits random_limits(Random& random, std::int64_t most) {
  const std::int64_t least = random.between(1, std::max<std::int64_t>(1, most / 2));
  return {static_cast<std::int32_t>(least),
          static_cast<std::int32_t>(random.between(2 * least, std::max(2 * least, most)))};
}

TEST(FramesLaws, RandomGraphsAreCutWithinLimitsNoWorseThanByNumberAndSeldomWorseThanByMetis) {
  int worse = 0;
  double ours = 0;
  double theirs = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const auto n = static_cast<std::int32_t>(random.between(1, 600));
    const OperatorGraph graph =
        random_graph(random, static_cast<GraphShape>(seed % graph_shapes), n);
    const Limits limits = random_limits(random, 60);
    SCOPED_TRACE(fmt::format("seed {}, {} operators, frames of {} to {}", seed, n, limits.min_size,
                             limits.max_size));
    const Cut found = frames::cut(graph, limits);
    ASSERT_EQ(fault_of(found, graph, limits), "");
    const Cut by_number = cut_by_number(graph, limits);
    EXPECT_LE(found.expected_breakers, by_number.expected_breakers + 1e-6);
    const double metis = cut_by_metis(graph, limits).expected_breakers;
    worse += found.expected_breakers > metis + 1e-6;
    ours += found.expected_breakers;
    theirs += metis;
  }
  // Where METIS's parts happen to have an order, they may be better than what any search finds.
  EXPECT_LE(worse, 2);
  EXPECT_LT(ours, 0.9 * theirs);
}

TEST(FramesLaws, LimitsThatNoCutMeetsAreMetAsFarAsTheyCanBe) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const auto n = static_cast<std::int32_t>(random.between(1, 200));
    const OperatorGraph graph =
        random_graph(random, static_cast<GraphShape>(seed % graph_shapes), n);
    const auto most = static_cast<std::int32_t>(random.between(1, 40));
    const Limits limits{static_cast<std::int32_t>(random.between((most + 1) / 2, most)), most};
    EXPECT_EQ(fault_of(frames::cut(graph, limits), graph, limits), "") << "seed " << seed;
  }
}

/// How far cuts are from the optimum.
class Optimum : public ::testing::Test {
 protected:
  void expect_near(const OperatorGraph& graph, Limits limits) {
    const Cut found = frames::cut(graph, limits);
    ASSERT_EQ(fault_of(found, graph, limits), "");
    const auto least = least_breakers(graph, limits, found.expected_breakers, 3'000'000);
    if (!least) return;
    ++known_;
    optimal_ += found.expected_breakers <= *least + 1e-6;
    EXPECT_LE(found.expected_breakers, 1.05 * *least + 1e-6);
  }
  void TearDown() override { fmt::print("{} of {} cuts are optimal\n", optimal_, known_); }
  int known_ = 0;
  int optimal_ = 0;
};

TEST_F(Optimum, IsNearOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    Random random(seed);
    const auto n = static_cast<std::int32_t>(random.between(8, 40));
    const OperatorGraph graph =
        random_graph(random, static_cast<GraphShape>(seed % graph_shapes), n);
    const Limits limits = random_limits(random, 12);
    SCOPED_TRACE(fmt::format("seed {}, {} operators, frames of {} to {}", seed, n, limits.min_size,
                             limits.max_size));
    expect_near(graph, limits);
  }
  EXPECT_GE(known_, 150);
  EXPECT_GE(optimal_, known_ * 9 / 10);
}

TEST_F(Optimum, IsNearOnUnrolledPlans) {
  for (const UnrolledPlan& plan : small_unrolled_plans())
    for (const Limits limits : {Limits{2, 5}, Limits{3, 8}, Limits{5, 10}, Limits{8, 16}}) {
      SCOPED_TRACE(
          fmt::format("{}, frames of {} to {}", plan.name, limits.min_size, limits.max_size));
      ASSERT_LE(plan.operators.size(), 40U);
      expect_near(plan.graph(), limits);
    }
  EXPECT_GE(known_, 60);
  EXPECT_GE(optimal_, known_ * 9 / 10);
}

/// The exact solver is itself held to all cuts there are.
double least_of_all(const OperatorGraph& graph, Limits limits) {
  const std::int32_t n = graph.size();
  double least = std::numeric_limits<double>::infinity();
  Cut tried;
  tried.frame_of.assign(static_cast<std::size_t>(n), 0);
  while (true) {
    tried.frames = 1 + *std::max_element(tried.frame_of.begin(), tried.frame_of.end());
    tried.expected_breakers = frames::expected_breakers(graph, tried.frame_of);
    if (tried.expected_breakers < least && fault_of(tried, graph, limits).empty())
      least = tried.expected_breakers;
    std::int32_t op = 0;
    while (op < n && ++tried.frame_of[op] == n) tried.frame_of[op++] = 0;
    if (op == n) return least;
  }
}

TEST(ExactCut, IsTheLeastOfAllCuts) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const auto n = static_cast<std::int32_t>(random.between(2, 6));
    const OperatorGraph graph =
        random_graph(random, static_cast<GraphShape>(seed % graph_shapes), n);
    const auto most = static_cast<std::int32_t>(random.between(1, 4));
    const Limits limits{static_cast<std::int32_t>(random.between(1, most)), most};
    EXPECT_NEAR(least_breakers(graph, limits, 1e9).value(), least_of_all(graph, limits), 1e-6)
        << "seed " << seed;
  }
}

TEST(FramesLaws, UnrolledPlansAreCutNoWorseThanByOuterIndexOrMetis) {
  const std::vector<UnrolledPlan> plans = unrolled_plans();
  EXPECT_GE(plans.size(), 20U);
  for (const UnrolledPlan& plan : plans)
    for (const Limits limits : {Limits{10, 40}, Limits{50, 200}}) {
      const OperatorGraph graph = plan.graph();
      SCOPED_TRACE(fmt::format("{}, {} operators, frames of {} to {}", plan.name, graph.size(),
                               limits.min_size, limits.max_size));
      const Cut found = frames::cut(graph, limits);
      EXPECT_EQ(fault_of(found, graph, limits), "");
      const Cut outer = cut_by_outer_index(graph, plan.outer_index, limits);
      EXPECT_EQ(fault_of(outer, graph, limits), "");
      EXPECT_LE(found.expected_breakers, outer.expected_breakers + 1e-6);
      const Cut metis = cut_by_metis(graph, limits);
      EXPECT_EQ(fault_of(metis, graph, limits), "");
      EXPECT_LE(found.expected_breakers, metis.expected_breakers + 1e-6);
    }
}

}  // namespace
}  // namespace tessera
