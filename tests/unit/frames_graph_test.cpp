// The graph of a plan's operators, and the probabilities of its edges.

#include <gtest/gtest.h>

#include "optimizer/frames/pipelining.h"
#include "support/expectations.h"

namespace tessera::frames {
namespace {

double probability(const OperatorGraph& graph, std::int32_t from, std::int32_t to) {
  for (const Link& link : graph.consumers(from))
    if (link.other == to) return link.probability;
  return -1;
}

TEST(OperatorGraph, KnowsEdgesFromBothEnds) {
  const OperatorGraph graph(4, {{2, 0, 0.5F}, {0, 1, 1}, {2, 1, 0.25F}, {3, 0, 0.125F}});
  EXPECT_EQ(graph.size(), 4);
  EXPECT_EQ(graph.edges(), 4);
  EXPECT_EQ(graph.total_weight(), 4);
  ASSERT_EQ(graph.consumers(2).size(), 2U);
  EXPECT_EQ(graph.consumers(2)[0].other, 0);
  EXPECT_EQ(graph.consumers(2)[1].other, 1);
  ASSERT_EQ(graph.producers(0).size(), 2U);
  EXPECT_EQ(graph.producers(0)[0].other, 2);
  EXPECT_EQ(graph.producers(0)[1].other, 3);
  EXPECT_EQ(graph.producers(0)[1].probability, 0.125F);
  EXPECT_TRUE(graph.consumers(1).empty());
}

TEST(OperatorGraph, AddsParallelEdgesUp) {
  const OperatorGraph graph(3, {{0, 1, 0.5F}, {0, 2, 0.25F}, {0, 1, 0.25F}});
  EXPECT_EQ(graph.edges(), 2);
  EXPECT_EQ(graph.consumers(0)[0].probability, 0.75F);
  EXPECT_EQ(graph.producers(1)[0].probability, 0.75F);
}

TEST(OperatorGraph, CostsTensOfMegabytesForHundredsOfThousands) {
  std::vector<Edge> edges;
  for (std::int32_t i = 2; i < 300'000; ++i) {
    edges.push_back({i - 1, i, 0.5F});
    edges.push_back({i - 2, i, 0.5F});
  }
  EXPECT_LT(OperatorGraph(300'000, std::move(edges)).bytes(), 13'000'000);
}

TEST(OperatorGraph, RefusesWhatIsNoPlan) {
  EXPECT_ERROR(PlanError, OperatorGraph(2, {{0, 2, 1}}),
               "invalid edge from operator 0 to 2: the operators are 0 to 1");
  EXPECT_ERROR(PlanError, OperatorGraph(2, {{1, 1, 1}}), "operator 1 reads its own output");
  EXPECT_ERROR(PlanError, OperatorGraph(2, {{0, 1, -0.5F}}),
               "invalid probability -0.5 that operator 0 is pipelined into 1");
  EXPECT_ERROR(PlanError, OperatorGraph(4, {{0, 1, 1}, {1, 2, 1}, {2, 1, 1}, {2, 3, 1}}),
               "the plan has a cycle: operator 1 depends");
}

TEST(Pipelining, ASingleReaderThatSelectsOrAggregatesIsCertain) {
  const std::vector<Kind> kinds_of = {Kind::join, Kind::aggregation, Kind::selection, Kind::join};
  const OperatorGraph graph = operator_graph(kinds_of, {{0, 1}, {1, 2}, {2, 3}}, {});
  EXPECT_EQ(probability(graph, 0, 1), 1);
  EXPECT_EQ(probability(graph, 1, 2), 1);
}

TEST(Pipelining, OtherSingleReadersAreAsInThePast) {
  History history;
  for (int i = 0; i < 996; ++i) history.add(Kind::join, Kind::projection, i % 4 == 0);
  const OperatorGraph graph = operator_graph({Kind::join, Kind::projection}, {{0, 1}}, history);
  // 249 of 996, and the prior of 0.9 as if seen four times.
  EXPECT_FLOAT_EQ(static_cast<float>(probability(graph, 0, 1)), (249 + 3.6F) / 1000);
}

TEST(Pipelining, SeveralReadersShareOneOutput) {
  const std::vector<Kind> kinds_of = {Kind::join, Kind::aggregation, Kind::join, Kind::selection};
  const OperatorGraph graph = operator_graph(kinds_of, {{0, 1}, {0, 2}, {0, 3}}, {});
  EXPECT_FLOAT_EQ(static_cast<float>(probability(graph, 0, 1)), 1.0F / 3);
  EXPECT_FLOAT_EQ(static_cast<float>(probability(graph, 0, 2)), 0.5F / 3);
  EXPECT_FLOAT_EQ(static_cast<float>(probability(graph, 0, 3)), 1.0F / 3);
}

TEST(Pipelining, WhoUsesAnOutputTwiceIsOneReader) {
  const OperatorGraph graph = operator_graph({Kind::other, Kind::join}, {{0, 1}, {0, 1}}, {});
  EXPECT_EQ(graph.edges(), 1);
  EXPECT_EQ(probability(graph, 0, 1), 0.5);
}

TEST(Pipelining, RefusesOperatorsThatAreNotThere) {
  EXPECT_ERROR(PlanError, operator_graph({Kind::join}, {{0, 1}}, {}),
               "operator 1 reads operator 0, but the operators are 0 to 0");
}

TEST(History, WithoutHistoryThereIsAPrior) {
  for (int a = 0; a < kinds; ++a)
    for (int b = 0; b < kinds; ++b) {
      const auto producer = static_cast<Kind>(a);
      const auto consumer = static_cast<Kind>(b);
      EXPECT_EQ(History().fraction(producer, consumer), History::prior(producer, consumer));
      EXPECT_GT(History::prior(producer, consumer), 0);
      EXPECT_LE(History::prior(producer, consumer), 1);
    }
}

TEST(History, MergesAndSurvivesAsText) {
  History first;
  first.add(Kind::join, Kind::projection, true);
  first.add(Kind::join, Kind::projection, false);
  first.add(Kind::union_all, Kind::other, false);
  History second;
  second.add(Kind::join, Kind::projection, true);
  first.merge(second);
  EXPECT_EQ(first.count(Kind::join, Kind::projection), (History::Count{2, 3}));
  EXPECT_EQ(first.to_text(), "join projection 2 3\nunion other 0 1\n");
  EXPECT_EQ(History::from_text(first.to_text()), first);
  EXPECT_EQ(History::from_text(""), History());
}

TEST(History, CountsDoNotWrapAround) {
  History history = History::from_text("join join 9223372036854775807 9223372036854775807");
  history.add(Kind::join, Kind::join, true);
  history.merge(history);
  EXPECT_EQ(history.count(Kind::join, Kind::join).total, 9223372036854775807);
  EXPECT_NEAR(history.fraction(Kind::join, Kind::join), 1, 1e-9);
}

TEST(History, RefusesOtherTexts) {
  EXPECT_ERROR(ParseError, History::from_text("join join 1 2\njoin sort 1 2\n"),
               "line 2 of the workload history is invalid: \"join sort 1 2\"");
  EXPECT_ERROR(ParseError, History::from_text("join join 3 2"), "join join 3 2");
  EXPECT_ERROR(ParseError, History::from_text("join join -1 2"), "join join -1 2");
  EXPECT_ERROR(ParseError, History::from_text("join join 1"), "join join 1");
  EXPECT_ERROR(ParseError, History::from_text("join join 1 2 3"), "join join 1 2 3");
  EXPECT_ERROR(ParseError, History::from_text("\njoin join 1 2"), "line 1");
}

}  // namespace
}  // namespace tessera::frames
