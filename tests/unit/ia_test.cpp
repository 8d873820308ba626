// Physical plans: what each operator of table 1 becomes, where results lie, and what is refused.

#include "tessera/ia.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "support/expectations.h"

namespace tessera {
namespace {

/// A 4x4 matrix of 0 to 15 in tiles of 2x2.
Plan matrix(const std::string& name = "A") {
  std::vector<std::int64_t> values(16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
  return Plan::input(Relation::from_tensor(Tile::of<std::int64_t>({4, 4}, values), {2, 2}), name);
}

ia::Plan placed(const Plan& input, const std::vector<int>& components, int sites = 2) {
  return ia::Plan::input(input, Placement::part(components, input.frontier(), sites));
}

std::vector<std::string> lines(const ia::Plan& plan) {
  std::vector<std::string> result;
  for (const ia::Plan& node : ia::in_order(plan)) result.insert(result.begin(), describe(node));
  return result;
}
using Lines = std::vector<std::string>;

TEST(Ia, TableOne) {
  const auto physical = [](const Plan& plan) {
    return lines(ia::translate(plan, ia::round_robin(2)));
  };
  EXPECT_EQ(physical(matrix().aggregate({0}, "add")),
            (Lines{"Aggregate by <0> with add", "SHUF PART<0> on 2", "Input A"}));
  EXPECT_EQ(physical(matrix().join(matrix("B"), {1}, {0}, "matmul")),
            (Lines{"Join <1> = <0> with matmul", "BCAST", "Input A", "Input B"}));
  EXPECT_EQ(physical(matrix().rekey("<k1, k0>")), (Lines{"Map <k1, k0>", "Input A"}));
  EXPECT_EQ(physical(matrix().filter("k0 = k1")), (Lines{"Filter k0 = k1", "Input A"}));
  EXPECT_EQ(physical(matrix().transform("neg")), (Lines{"Map with neg", "Input A"}));
  EXPECT_EQ(physical(matrix().concat(1, 1)).at(1), "SHUF PART<0> on 2");
  EXPECT_EQ(physical(matrix().tile(0, 1)).size(), 2u);
}

TEST(Ia, InputsAreDealtOutWhenNobodySays) {
  const ia::Plan input = ia::translate(matrix(), ia::round_robin(4));
  EXPECT_EQ(input.placement().to_string(), "PART<0+1> on 4");
}

TEST(Ia, ResultsLieWhereTheirInputsMeet) {
  const ia::Plan rows = placed(matrix(), {0}), columns = placed(matrix("B"), {1});
  EXPECT_TRUE(rows.broadcast().placement().is_all());
  EXPECT_EQ(rows.filter("k0 = k1").placement(), rows.placement());
  EXPECT_EQ(rows.map("<k1, k0>", {}).placement().to_string(), "PART<1> on 2");
  EXPECT_EQ(rows.broadcast().join(columns, {1}, {0}, {"matmul"}).placement().to_string(),
            "PART<2> on 2");
  EXPECT_EQ(rows.aggregate({0}, {"add"}).placement().to_string(), "PART<0> on 2");
  EXPECT_TRUE(rows.aggregate({0}, {"add"}).pending().empty());
}

TEST(Ia, GroupsAtSeveralSitesLeaveSummands) {
  const ia::Plan parts = placed(matrix(), {1}).aggregate({0}, {"add"});
  EXPECT_EQ(parts.placement().to_string(), "2 summands");
  ASSERT_EQ(parts.pending().size(), 1u);
  EXPECT_EQ(parts.pending().front().to_string(), "add");
  const ia::Plan whole = parts.shuffle({0}).aggregate({0}, {"add"});
  EXPECT_TRUE(whole.pending().empty());
  EXPECT_TRUE(relations_equal(ia::interpret(whole), matrix().aggregate({0}, "add").run()));
}

TEST(Ia, WhatCrossesIsCounted) {
  // Rows to columns on two sites: half of the four tiles of four numbers changes places.
  ia::Traffic traffic(2);
  (void)ia::interpret(placed(matrix(), {0}).shuffle({1}), &traffic);
  EXPECT_EQ(traffic.total, 8);
  EXPECT_EQ(traffic.sent, (std::vector<double>{4, 4}));
  EXPECT_EQ(traffic.most_loaded(), 4);
  ia::Traffic everywhere(2);
  (void)ia::interpret(placed(matrix(), {0}).broadcast(), &everywhere);
  EXPECT_EQ(everywhere.total, 16);
}

TEST(Ia, JoinsWhoseSidesDoNotMeet) {
  const ia::Plan rows = placed(matrix(), {0}), other = placed(matrix("B"), {0});
  EXPECT_ERROR(PlanError, rows.join(other, {1}, {0}, {"matmul"}),
               "Join: axis 0 may put matching tuples at different sites: the left side is placed "
               "PART<0> on 2, the right side PART<0> on 2; shuffle or broadcast one of them");
  EXPECT_ERROR(PlanError, rows.join(placed(matrix("B"), {0}, 3), {0}, {0}, {"add"}),
               "Join: the left side has 2 sites, the right side 3");
}

TEST(Ia, MovesThatCannotBe) {
  const ia::Plan rows = placed(matrix(), {0});
  EXPECT_ERROR(PlanError, rows.shuffle(Placement::grid({2}, {2}, 2)),
               "SHUF PART<2> on 2: keys have only 2 components");
  EXPECT_ERROR(PlanError, rows.shuffle({0, 2}), "key component 2 does not exist");
  EXPECT_ERROR(PlanError, rows.shuffle(Placement::all(3)),
               "SHUF from 2 sites to 3: the number of sites must be the same in the whole plan");
  EXPECT_ERROR(PlanError, rows.shuffle(Placement({{2, Axis::Kind::partial, {}}}, 2)),
               "cannot be sent to this placement");
}

TEST(Ia, WhatSummandsAreNotReadyFor) {
  const ia::Plan parts = placed(matrix(), {1}).aggregate({0}, {"add"});
  EXPECT_ERROR(PlanError, parts.map(std::nullopt, {{"neg"}}),
               "Map: its input has partial results that must first be combined with add");
  EXPECT_ERROR(PlanError, parts.shuffle({0}).aggregate({0}, {"maximum"}),
               "partial results of add cannot be combined with maximum");
  EXPECT_ERROR(PlanError, placed(matrix(), {1}).aggregate({0}, {"sub"}),
               "not known to be associative and commutative");
}

TEST(Ia, InputsThatCannotLieSo) {
  EXPECT_ERROR(PlanError, ia::Plan::input(matrix(), Placement::grid({2}, {2}, 2)),
               "cannot be placed PART<2> on 2: its keys have only 2 components");
  EXPECT_ERROR(PlanError, ia::Plan::input(matrix().transform("neg"), Placement()),
               "is not an input");
}

TEST(Ia, ExplainTellsWhereEverythingLies) {
  const std::string text =
      ia::translate(matrix().aggregate({0}, "add"), ia::round_robin(2)).explain();
  EXPECT_NE(text.find("SHUF PART<0> on 2"), std::string::npos) << text;
  EXPECT_NE(text.find("PART<0+1> on 2"), std::string::npos) << text;
}

TEST(Ia, AJoinIsFusedWithTheOnlyAggregationThatReadsIt) {
  const auto operators = [](const std::vector<Plan>& plans) {
    int joins = 0, aggregates = 0, fused = 0;
    for (const ia::Plan& node : ia::in_order(ia::fused(ia::translate(plans, ia::round_robin(1))))) {
      const ia::Operator& op = ia::operator_of(node);
      joins += std::holds_alternative<ia::Join>(op) ? 1 : 0;
      aggregates += std::holds_alternative<ia::Aggregate>(op) ? 1 : 0;
      fused += std::holds_alternative<ia::JoinAggregate>(op) ? 1 : 0;
    }
    return fmt::format("{} joins, {} aggregations, {} fused", joins, aggregates, fused);
  };
  const auto pairs = [](const Plan& a) { return a.join(matrix("B"), {1}, {0}, "matmul"); };
  const Plan product = pairs(matrix()).aggregate({0, 2}, "add");
  EXPECT_EQ(operators({product}), "0 joins, 0 aggregations, 1 fused");
  // One below the other, and one whose products are summed after something else was done to them.
  EXPECT_EQ(operators({pairs(product).aggregate({0, 2}, "add")}),
            "0 joins, 0 aggregations, 2 fused");
  EXPECT_EQ(operators({pairs(product).transform("neg").aggregate({0, 2}, "add")}),
            "1 joins, 1 aggregations, 1 fused");
  // Products that two read, or that are a result themselves.
  const Plan shared = pairs(matrix());
  EXPECT_EQ(operators({shared.aggregate({0, 2}, "add"), shared.aggregate({0}, "add")}),
            "1 joins, 2 aggregations, 0 fused");
  EXPECT_EQ(operators({shared, shared.aggregate({0, 2}, "add")}),
            "1 joins, 1 aggregations, 0 fused");
}

}  // namespace
}  // namespace tessera
