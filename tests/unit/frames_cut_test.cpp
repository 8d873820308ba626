// Cuts of graphs whose best cut is plain to see, what limits mean, and the solver's parts.

#include <gtest/gtest.h>

#include "optimizer/frames/coarsen.h"
#include "optimizer/frames/refine.h"
#include "optimizer/frames/split.h"
#include "support/cut_baselines.h"
#include "support/expectations.h"
#include "support/random_graphs.h"

namespace tessera::frames {
namespace {

OperatorGraph chain(const std::vector<float>& probabilities) {
  std::vector<Edge> edges;
  for (std::int32_t i = 0; i < std::ssize(probabilities); ++i)
    edges.push_back({i, i + 1, probabilities[i]});
  return {static_cast<std::int32_t>(probabilities.size()) + 1, std::move(edges)};
}

TEST(FrameCut, AChainIsCutAtItsWeakestEdges) {
  const OperatorGraph graph = chain({1, 1, 0.5F, 1, 0.25F, 1, 1, 0.5F, 1});
  const Cut found = cut(graph, {3, 5});
  EXPECT_EQ(found.frame_of, (std::vector<std::int32_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(found.expected_breakers, 0.25);
  EXPECT_EQ(cut(graph, {3, 4}).expected_breakers, 1.5);
  EXPECT_EQ(fault_of(cut(graph, {3, 4}), graph, {3, 4}), "");
}

TEST(FrameCut, PlansThatFitAreOneFrame) {
  EXPECT_EQ(cut(OperatorGraph(), {3, 5}).frames, 0);
  const Cut small = cut(chain({1, 1}), {5, 10});
  EXPECT_EQ(small.frames, 1);
  EXPECT_EQ(small.expected_breakers, 0);
  EXPECT_EQ(cut(chain({1, 1, 1, 1}), {5, 5}).frames, 1);
}

TEST(FrameCut, ChainsSideBySideStayWhole) {
  std::vector<Edge> edges;
  for (std::int32_t i = 0; i + 4 < 20; ++i) edges.push_back({i, i + 4, 1});
  const OperatorGraph graph(20, std::move(edges));
  EXPECT_EQ(cut(graph, {5, 5}).expected_breakers, 0);
  EXPECT_EQ(cut(graph, {10, 10}).frames, 2);
  EXPECT_EQ(cut(graph, {10, 10}).expected_breakers, 0);
}

TEST(FrameCut, WhereSizesCannotBeHadTheyAreAsLargeAsTheyCan) {
  // 11 operators in frames of at most 5 are three frames at least, of which one has 3.
  EXPECT_EQ(least_size(11, {5, 5}), 3);
  EXPECT_EQ(least_size(10, {5, 5}), 5);
  EXPECT_EQ(least_size(11, {5, 6}), 5);
  EXPECT_EQ(least_size(3, {5, 6}), 3);
  const OperatorGraph graph = chain(std::vector<float>(10, 1));
  EXPECT_EQ(fault_of(cut(graph, {5, 5}), graph, {5, 5}), "");
  EXPECT_EQ(cut(graph, {5, 5}).frames, 3);
}

TEST(FrameCut, FramesOfOneOperatorBreakEverything) {
  const OperatorGraph graph = chain({0.5F, 0.25F, 1});
  EXPECT_EQ(cut(graph, {1, 1}).frames, 4);
  EXPECT_EQ(cut(graph, {1, 1}).expected_breakers, 1.75);
}

TEST(FrameCut, RefusesLimitsThatMakeNoSense) {
  EXPECT_ERROR(PlanError, (void)cut(chain({1}), {3, 2}), "invalid frame sizes 3 to 2");
  EXPECT_ERROR(PlanError, (void)cut(chain({1}), {0, 2}), "invalid frame sizes 0 to 2");
}

TEST(FrameCut, IsTheSameEveryTime) {
  Random random(7);
  const OperatorGraph graph = random_graph(random, GraphShape::layers, 700);
  const Cut first = cut(graph, {10, 30});
  EXPECT_EQ(first.frame_of, cut(graph, {10, 30}).frame_of);
}

/// The least of all ways to cut an order, by trying them.
double least_split(const OperatorGraph& graph, const Order& order, Limits limits) {
  double least = std::numeric_limits<double>::infinity();
  const std::int32_t n = graph.size();
  for (std::uint32_t borders = 0; borders < 1U << (n - 1); ++borders) {
    std::vector<std::int32_t> frame_of(static_cast<std::size_t>(n), 0);
    std::vector<std::int32_t> sizes = {graph.weight(order[0])};
    for (std::int32_t i = 1; i < n; ++i) {
      if ((borders >> (i - 1) & 1) != 0) sizes.push_back(0);
      sizes.back() += graph.weight(order[i]);
      frame_of[order[i]] = static_cast<std::int32_t>(sizes.size());
    }
    frame_of[order[0]] = 1;
    bool fits = true;
    for (const std::int32_t size : sizes)
      fits = fits && size >= limits.min_size && size <= limits.max_size;
    if (fits) least = std::min(least, expected_breakers(graph, frame_of));
  }
  return least;
}

TEST(Split, IsTheBestOfAllWaysToCutAnOrder) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Random random(seed);
    const auto n = static_cast<std::int32_t>(random.between(1, 13));
    OperatorGraph graph = random_graph(random, static_cast<GraphShape>(seed % graph_shapes), n);
    Noise noise(seed);
    if (random.chance(0.5)) graph = coarsen(graph, 3, noise).graph;
    const auto least = static_cast<std::int32_t>(random.between(1, 4));
    const Limits limits{least, least + static_cast<std::int32_t>(random.between(0, 4))};
    const Order order = depth_first(graph, From::results, 1, noise);
    const double expected = least_split(graph, order, limits);
    const std::optional<Cut> found = split(graph, order, limits);
    ASSERT_EQ(found.has_value(), std::isfinite(expected)) << "seed " << seed;
    if (found) EXPECT_NEAR(found->expected_breakers, expected, 1e-5) << "seed " << seed;
  }
}

TEST(Orders, HaveEveryOperatorOnceAfterItsProducers) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const OperatorGraph graph =
        random_graph(random, static_cast<GraphShape>(seed % graph_shapes), 80);
    Noise noise(seed);
    const float disorder = noise.fraction();
    for (const Order& order :
         {by_number(graph), depth_first(graph, From::results, disorder, noise),
          depth_first(graph, From::inputs, disorder, noise), grown(graph, 9, disorder, noise)}) {
      std::vector<std::int32_t> position(80, -1);
      ASSERT_EQ(order.size(), 80U);
      for (std::int32_t i = 0; i < 80; ++i) position[order[i]] = i;
      for (std::int32_t op = 0; op < 80; ++op) {
        EXPECT_GE(position[op], 0) << "seed " << seed;
        for (const Link& link : graph.producers(op))
          EXPECT_LT(position[link.other], position[op]) << "seed " << seed;
      }
    }
  }
}

TEST(Coarsen, KeepsWeightsAndEdgesAndMakesNoCycle) {
  std::int64_t joined = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    OperatorGraph graph = random_graph(random, static_cast<GraphShape>(seed % graph_shapes), 120);
    Noise noise(seed);
    for (int level = 0; level < 4; ++level) {
      // The constructor of a graph refuses cycles.
      const Coarse coarse = coarsen(graph, 10, noise);
      EXPECT_EQ(coarse.graph.total_weight(), 120);
      for (std::int32_t op = 0; op < coarse.graph.size(); ++op)
        EXPECT_LE(coarse.graph.weight(op), 10);
      // A cut of the coarse graph costs what the same cut of the finer one costs.
      const std::optional<Cut> there = split(coarse.graph, by_number(coarse.graph), {1, 30});
      ASSERT_TRUE(there);
      EXPECT_NEAR(expected_breakers(graph, project(*there, coarse).frame_of),
                  there->expected_breakers, 1e-4);
      joined += graph.size() - coarse.graph.size();
      graph = coarse.graph;
    }
  }
  EXPECT_GT(joined, 300 * 60);
}

TEST(Refine, OnlyImprovesAndKeepsOrderAndLimits) {
  int improved = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Random random(seed);
    const OperatorGraph graph =
        random_graph(random, static_cast<GraphShape>(seed % graph_shapes), 150);
    Noise noise(seed);
    Cut found = *split(graph, depth_first(graph, From::results, 1, noise), {8, 20});
    const double before = found.expected_breakers;
    const double gained = refine(graph, found, {8, 20}, static_cast<std::int32_t>(seed % 3));
    EXPECT_EQ(fault_of(found, graph, {8, 20}), "") << "seed " << seed;
    EXPECT_NEAR(before - found.expected_breakers, gained, 1e-4) << "seed " << seed;
    EXPECT_GE(gained, 0);
    improved += gained > 0;
  }
  EXPECT_GT(improved, 60);
}

}  // namespace
}  // namespace tessera::frames
