// The rules about where what joins, and what is folded, comes together: results stay the same, tile
// for tile, and each side condition has a plan that it must refuse.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "rules/laws.h"
#include "rules/sharing.h"
#include "support/expectations.h"
#include "support/law_trials.h"
#include "support/rewrite_at.h"

namespace tessera {
namespace {

using namespace optimizer;

Plan joined(Random& random) {
  const Plan left = random_source(random);
  return random_join(random, left, random.chance(0.5) ? left : random_source(random),
                     {"add", "mul", "sub", "maximum"});
}

Plan gathered(Random& random) {
  const Plan source = random_source(random, 2, 3);
  if (random.chance(0.3) && source.type().columns.size() == 1)
    return source.concat(static_cast<int>(random.between(0, source.type().arity() - 1)), 0);
  return source.aggregate(random_components(random, source.type().arity(), 0.5),
                          random.pick<const char*>({"add", "maximum", "sub"}));
}

ia::Plan matrix(const std::vector<int>& components, const Key& frontier = {3, 3}) {
  const Tile values = random_integers(DType::i64, {2 * frontier[0], 2 * frontier[1]}, 1, -9, 9);
  const Plan plan = Plan::input(Relation::from_tensor(values, {2, 2}), "R");
  return ia::Plan::input(plan, Placement::part(components, plan.frontier(), 3));
}

TEST(GatheringRules, JoinInPlace) {
  const PlanMaker below = physical(joined);
  expect_law(rule_named("join_in_place"), [=](Random& random, int sites) {
    // Moved so that it meets, and then once more.
    const ia::Plan plan = below(random, sites);
    const auto* join = std::get_if<ia::Join>(&operator_of(plan));
    if (join == nullptr) throw PlanError("the join is not at the root");
    ia::Join again = *join;
    again.left = join->left.shuffle(join->left.placement());
    again.right = join->right.broadcast();
    return random.chance(0.5) ? plan : ia::make(again, plan.logical());
  });
}

TEST(GatheringRules, MoveBeforeAggregation) {
  const PlanMaker below = physical(gathered);
  expect_law(rule_named("move_before_aggregation"),
             [=](Random& random, int sites) { return random_move(random, below(random, sites)); });
}

TEST(GatheringRules, AggregateAtLiesThere) {
  const ia::Plan plan = matrix({0, 1}).shuffle({0}).aggregate({1, 0}, {"add"});
  for (const Placement& to : {Placement::all(3), Placement::part({1}, {3, 3}, 3),
                              Placement::grid({0}, {2}, 3), Placement::part({0, 1}, {3, 3}, 3)}) {
    const Rewrite rewrite = aggregate_at(plan, to);
    ASSERT_TRUE(rewrite) << rewrite.why_not;
    EXPECT_EQ(rewrite.plan->placement(), to) << to.to_string();
    EXPECT_TRUE(relations_equal(ia::interpret(*rewrite.plan), ia::interpret(plan)));
  }
}

TEST(GatheringRules, WhatJoinsElsewhereIsMoved) {
  const ia::Plan join = matrix({1}).broadcast().join(matrix({0}), {0}, {0}, {"add"});
  expect_refusal(join_in_place(join), "axis 0 may put matching tuples at different sites");
  expect_refusal(join_in_place(matrix({0}).join(matrix({0}), {0}, {0}, {"add"})), "so already");
  expect_refusal(join_in_place(matrix({0})), "not a join");
}

TEST(GatheringRules, GroupsThatAreNotMovedStay) {
  const ia::Plan local = matrix({0}).aggregate({0}, {"add"});
  expect_refusal(move_before_aggregation(local.broadcast()), "aggregates no move");
  expect_refusal(move_before_aggregation(local), "not a move");
  expect_refusal(move_before_aggregation(matrix({0}).broadcast()), "not an aggregation");
  // Summands stay summands: who reads them is to fold them.
  const ia::Plan parts = matrix({1}).shuffle({1}).aggregate({0}, {"add"});
  ASSERT_FALSE(parts.pending().empty());
  expect_refusal(move_before_aggregation(parts.shuffle({0})), "partial sums");
}

TEST(GatheringRules, MovesAreSharedByTheirReaders) {
  int shared = 0;
  for (std::uint64_t seed = 0; seed < 2500; ++seed) {
    Random random(seed);
    const auto logical = random_plan(random, static_cast<int>(random.between(2, 6)));
    if (!logical || logical->cardinality().tuples > 300) continue;
    try {
      const Relation expected = logical->run(Holes::allowed);
      const ia::Plan plan = ia::translate(*logical, random_places(random, 4));
      const ia::Plan after = share_moves({plan}).front();
      shared += ia::in_order(after).size() < ia::in_order(plan).size() ? 1 : 0;
      ia::Traffic before(4), less(4);
      EXPECT_TRUE(relations_equal(ia::interpret(plan, &before), expected));
      EXPECT_TRUE(relations_equal(ia::interpret(after, &less), expected)) << after.explain();
      EXPECT_LE(less.total, before.total);
    } catch (const InternalError& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    } catch (const Error&) {
      continue;
    }
  }
  EXPECT_GE(shared, 20);
}

TEST(GatheringRules, SeveralResultsGoOnSharing) {
  const ia::Plan common = matrix({0}).filter("k0 < 2").filter("k1 < 2");
  const std::vector<ia::Plan> roots{common.map(std::nullopt, {{"neg"}}),
                                    common.map(std::nullopt, {{"abs"}}), matrix({1})};
  const Rewrites rewritten = rewrite_at(roots, common, rule_named("merge_filters"));
  ASSERT_TRUE(rewritten) << rewritten.why_not;
  EXPECT_EQ(ia::in_order(rewritten.plans).size(), ia::in_order(roots).size() - 1);
  EXPECT_TRUE(rewritten.plans[2].is_same(roots[2]));
}

}  // namespace
}  // namespace tessera
