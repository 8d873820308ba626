// The matrix multiplications: their forms, who owns what, and what they refuse.

#include "rules/multiplication.h"

#include <gtest/gtest.h>

#include <map>

#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/law_trials.h"
#include "support/plan_lines.h"

namespace tessera {
namespace {

using namespace optimizer;

/// A product of matrices of n x n tiles, compiled by table 1.
ia::Plan product(std::int64_t n, int sites, const char* fold = "add") {
  const auto matrix = [&](std::uint64_t seed) {
    return Plan::input(
        Relation::from_tensor(random_integers(DType::i64, Shape{2 * n, 2 * n}, seed, -9, 9),
                              Shape{2, 2}),
        "R");
  };
  const Plan plan = matrix(1).join(matrix(2), {1}, {0}, "matmul").aggregate({0, 2}, fold);
  return ia::translate(plan, ia::round_robin(sites));
}

void expect_product(const Rewrite& rewrite, const ia::Plan& plan) {
  ASSERT_TRUE(rewrite) << rewrite.why_not;
  EXPECT_TRUE(relations_equal(ia::interpret(*rewrite.plan), ia::interpret(plan)))
      << rewrite.plan->explain();
}

TEST(Multiplication, AsThePaperPrintsIt) {
  const ia::Plan plan = product(4, 4);
  using Lines = std::vector<std::string>;
  const std::string join = "Join <1> = <0> with matmul", fold = "Aggregate by <0, 2> with add";
  const auto broadcast = broadcast_multiply(plan, Side::left, Folding::as_printed);
  expect_product(broadcast, plan);
  EXPECT_EQ(lines(*broadcast.plan),
            (Lines{fold, "SHUF PART<0+2> on 4", join, "BCAST", "Input R", "Input R"}));
  const auto cross = cross_product_multiply(plan, Folding::as_printed);
  expect_product(cross, plan);
  EXPECT_EQ(lines(*cross.plan), (Lines{fold, "SHUF PART<0+2> on 4", join, "SHUF PART<1> on 4",
                                       "Input R", "SHUF PART<0> on 4", "Input R"}));
  const auto replicated = replicated_multiply(plan);
  expect_product(replicated, plan);
  EXPECT_EQ(lines(*replicated.plan),
            (Lines{fold, "Join <0, 1, 2> = <0, 1, 2> with matmul", "SHUF PART<0+2> on 4",
                   "Map to 4 copies <k0, k1, 0> ...", "Input R", "SHUF PART<0+2> on 4",
                   "Map to 4 copies <0, k0, k1> ...", "Input R"}));
}

TEST(Multiplication, SumsAreTakenAtEachSiteFirst) {
  const ia::Plan plan = product(4, 4);
  const auto cross = cross_product_multiply(plan);
  expect_product(cross, plan);
  const std::vector<std::string> all = lines(*cross.plan);
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all[0], "Aggregate by <0, 1> with add");
  EXPECT_EQ(all[2], "Aggregate by <0, 2> with add");
  ia::Traffic first, printed;
  first = printed = ia::Traffic(4);
  ia::interpret(*cross.plan, &first);
  ia::interpret(*cross_product_multiply(plan, Folding::as_printed).plan, &printed);
  EXPECT_LE(first.total, printed.total);
}

TEST(Multiplication, OwnersAreBalancedAndHoldSummands) {
  for (const auto& [extents, sites] : std::vector<std::pair<std::vector<int>, int>>{
           {{2, 2, 2}, 8}, {{1, 4, 2}, 8}, {{2, 3, 1}, 6}, {{1, 5, 1}, 5}}) {
    const ia::Plan plan = product(8, sites);
    const auto rewrite = grid_multiply(plan, extents);
    expect_product(rewrite, plan);
    const auto& last = std::get<ia::Aggregate>(operator_of(*rewrite.plan));
    const auto& move = std::get<ia::Shuffle>(operator_of(last.input));
    std::map<int, int> owned;
    for (std::int64_t i = 0; i < 8; ++i)
      for (std::int64_t j = 0; j < 8; ++j) {
        const Key key{i, j};
        const std::vector<int> owner = move.to.holders(key);
        const std::vector<int> holders = move.input.placement().holders(key);
        ASSERT_EQ(owner.size(), 1u);
        EXPECT_TRUE(std::binary_search(holders.begin(), holders.end(), owner[0]));
        ++owned[owner[0]];
      }
    EXPECT_EQ(std::ssize(owned), extents[0] * extents[1] * extents[2]);
    int least = 64, most = 0;
    for (const auto& [site, tuples] : owned) {
      least = std::min(least, tuples);
      most = std::max(most, tuples);
    }
    EXPECT_LE(most - least, 1) << sites;
  }
}

TEST(Multiplication, AGridWithoutAnAxisForTheSumNeedsOneAggregation) {
  const ia::Plan plan = product(4, 4);
  const auto rewrite = grid_multiply(plan, {2, 1, 2});
  expect_product(rewrite, plan);
  EXPECT_EQ(lines(*rewrite.plan).front(), "Aggregate by <0, 2> with add");
  EXPECT_EQ(rewrite.plan->placement().to_string(), "PART<0, 1> on 2x2");
}

TEST(Multiplication, TwoAndAHalfDIsAsSquareAsItCanBe) {
  const auto on = [](int sites, int replication) {
    const auto rewrite = two_and_a_half_d(product(8, sites), replication);
    if (!rewrite) return rewrite.why_not;
    const ia::Plan sums = *rewrite.plan;
    return sums.placement().to_string();
  };
  EXPECT_EQ(on(4, 1), "PART<0, 1> on 2x2");
  EXPECT_EQ(on(6, 1), "PART<0, 1> on 2x3");
  EXPECT_EQ(on(7, 1), "PART<0, 1> on 2x3");
  EXPECT_EQ(on(8, 2), "PART<0, 1, 0 div 2+1 div 2> on 2x2x2");
  EXPECT_EQ(on(4, 5), "5 copies on 4 sites");
  EXPECT_EQ(on(16, 9), "there are no 9 parts of the sum");
}

TEST(Multiplication, ManySitesMoveLessOnAGrid) {
  // The reason for 2D and 2.5D: what each algorithm moves, from inputs that are dealt out.
  const ia::Plan plan = product(8, 8);
  const auto moved = [&](const Rewrite& rewrite) {
    ia::Traffic traffic(8);
    ia::interpret(*rewrite.plan, &traffic);
    return traffic.total;
  };
  EXPECT_LT(moved(two_and_a_half_d(plan, 1)), moved(broadcast_multiply(plan, Side::left)) * 1.2);
  EXPECT_LT(moved(two_and_a_half_d(plan, 2)), moved(cross_product_multiply(plan)));
  EXPECT_LT(moved(two_and_a_half_d(plan, 2)),
            moved(cross_product_multiply(plan, Folding::as_printed)));
}

TEST(Multiplication, HoldsForOtherSemirings) {
  const ia::Plan plan = product(3, 4, "maximum");
  for (const char* name :
       {"broadcast_multiply_left", "broadcast_multiply_right", "cross_product_multiply",
        "replicated_multiply", "grid_multiply", "two_and_a_half_d"})
    expect_product(rule_named(name).apply(plan), plan);
}

TEST(Multiplication, Refuses) {
  const ia::Plan plan = product(4, 4);
  for (const char* name : {"broadcast_multiply_left", "cross_product_multiply",
                           "replicated_multiply", "grid_multiply", "two_and_a_half_d"})
    expect_refusal(rule_named(name).apply(product(4, 4, "sub")), "associative and commutative");
  expect_refusal(grid_multiply(plan, {2, 2}), "a grid of 2 axes for the 3 components");
  expect_refusal(grid_multiply(plan, {2, 2, 2}), "needs 8 sites or more, but there are 4");
  expect_refusal(grid_multiply(plan, {2, 0, 1}), "extent 0");

  const Relation sparse = Relation::from_tensor(Tile::zeros({DType::i64, Shape{4, 4}, 0}),
                                                Shape{2, 2}, Presence::sparse);
  const Plan zeros = Plan::input(sparse);
  const Plan logical = zeros.join(zeros, {1}, {0}, "matmul").aggregate({0, 2}, "add");
  const ia::Plan of_zeros = ia::translate(logical, ia::round_robin(4));
  expect_refusal(replicated_multiply(of_zeros), "zeros that are left out");
  expect_product(two_and_a_half_d(of_zeros, 2), of_zeros);
}

}  // namespace
}  // namespace tessera
