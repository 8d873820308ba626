// The side conditions of the rules: for each a plan that it refuses, with what would go wrong.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "rules/laws.h"
#include "rules/multiplication.h"
#include "support/expectations.h"
#include "support/law_trials.h"

namespace tessera {
namespace {

using optimizer::Rewrite;

/// A matrix of small integers in tiles, and a relation of its tiles.
Plan matrix(const Key& frontier, std::uint64_t seed = 1, const Shape& tile = {2, 2}) {
  Shape shape;
  for (std::size_t i = 0; i < frontier.size(); ++i) shape.push_back(frontier[i] * tile[i]);
  const Tile values = random_integers(DType::i64, shape, seed, -9, 9);
  return Plan::input(Relation::from_tensor(values, tile), "R");
}

ia::Plan placed(const Plan& input, const std::vector<int>& components, int sites = 3) {
  return ia::Plan::input(input, Placement::part(components, input.frontier(), sites));
}

void expect_refusal_by(const std::string& rule, const ia::Plan& plan, const std::string& why) {
  expect_refusal(rule_named(rule).apply(plan), why);
}

/// The rule refuses the plan, and rightly: what it would make of it is another relation.
void expect_right_refusal(const std::string& rule, const ia::Plan& plan, const ia::Plan& unsound,
                          const std::string& why) {
  EXPECT_FALSE(relations_equal(ia::interpret(unsound), ia::interpret(plan)))
      << rule << ": no counterexample";
  expect_refusal_by(rule, plan, why);
}

const ia::Pipeline neg = {{"neg"}}, absolute = {{"abs"}}, twice = {{"mul_scalar(value=2)"}};

TEST(RuleConditions, EveryRuleSaysWhyItDoesNotApply) {
  const ia::Plan input = placed(matrix({2, 2}), {0});
  for (const optimizer::Rule& rule : optimizer::all_rules()) {
    const Rewrite rewrite = rule.apply(input);
    EXPECT_FALSE(rewrite) << rule.name;
    EXPECT_FALSE(rewrite.why_not.empty()) << rule.name;
  }
}

TEST(RuleConditions, FilterStaysBehindAMapThatChangesKeys) {
  const ia::Plan input = placed(matrix({3, 2}), {0});
  const KeyFunction turned("<k1, k0>");
  expect_right_refusal("filter_before_map", input.map(turned, {}).filter("k0 < 1"),
                       input.filter("k0 < 1").map(turned, {}), "changes the keys");
}

TEST(RuleConditions, AFilterThatGuardsAnotherIsAskedFirst) {
  const ia::Plan plan = placed(matrix({3, 3}), {0}).filter("k1 != 0").filter("k0 div k1 = 1");
  const auto rewrite = rule_named("merge_filters").apply(plan);
  ASSERT_TRUE(rewrite) << rewrite.why_not;
  EXPECT_TRUE(relations_equal(ia::interpret(*rewrite.plan), ia::interpret(plan)));
}

TEST(RuleConditions, MapsOfSeveralOutputsDoNotMerge) {
  const ia::Plan input = placed(matrix({3, 2}), {0});
  expect_refusal_by("merge_maps", input.map(std::nullopt, neg).tile(0, 1), "several tuples");
  expect_refusal_by("merge_maps", input.tile(0, 1).map(std::nullopt, neg), "several tuples");
}

TEST(RuleConditions, OnlyMapsThatKeepKeysFinishAnAggregation) {
  const ia::Plan groups = placed(matrix({3, 2}), {0}).aggregate({0}, {"add"});
  expect_refusal_by("finish_aggregation", groups.map(KeyFunction("<2*k0>"), neg),
                    "changes the keys");
  EXPECT_TRUE(rule_named("finish_aggregation").apply(groups.map(std::nullopt, absolute)));
}

TEST(RuleConditions, OnlyMapsThatDistributePassAnAggregation) {
  const ia::Plan input = placed(matrix({3, 3}), {0});
  const ia::Plan after = input.aggregate({0}, {"add"}).map(std::nullopt, absolute);
  const ia::Plan before = input.map(std::nullopt, absolute).aggregate({0}, {"add"});
  expect_right_refusal("map_before_aggregation", after, before, "does not distribute");
  expect_right_refusal("map_after_aggregation", before, after, "does not distribute");
  // One stage that does not is enough.
  const ia::Pipeline stages = {{"mul_scalar(value=2)"}, {"abs"}};
  expect_refusal_by("map_before_aggregation",
                    input.aggregate({0}, {"add"}).map(std::nullopt, stages), "does not distribute");
  // A fold of another kind: the largest of the negatives is not the negative of the largest.
  expect_right_refusal(
      "map_before_aggregation", input.aggregate({0}, {"maximum"}).map(std::nullopt, neg),
      input.map(std::nullopt, neg).aggregate({0}, {"maximum"}), "does not distribute");
}

TEST(RuleConditions, AMapBehindAFinishStaysThere) {
  const ia::Plan input = placed(matrix({3, 3}), {0});
  const ia::Plan finished =
      ia::make(ia::Aggregate{input, {0}, {"add"}, absolute}).map(std::nullopt, twice);
  expect_right_refusal("map_before_aggregation", finished,
                       input.map(std::nullopt, twice).aggregate({0}, {"add"}), "finished");
}

TEST(RuleConditions, AnAggregationPassesOnlyMapsThatChooseComponents) {
  const ia::Plan input = placed(matrix({3, 2}), {0, 1}, 1);
  const auto sums_by = [](const ia::Plan& plan, const char* kernel = "add") {
    return plan.aggregate({0}, {kernel});
  };
  expect_refusal_by("aggregate_before_rekey", sums_by(input.map(KeyFunction("<k0 + k1, k1>"), {})),
                    "computes components");
  expect_refusal_by("aggregate_before_rekey", sums_by(input.map(std::nullopt, neg)),
                    "keeps the keys");
  // Tiles that have the same key are an error, and no summands.
  const ia::Plan twice = sums_by(input.map(KeyFunction("<k0>"), {}));
  expect_refusal_by("aggregate_before_rekey", twice, "two tuples the same key");
  EXPECT_THROW((void)ia::interpret(twice), PlanError);
  // Of three members in another order, others are subtracted from another one.
  const ia::Plan cube = placed(matrix({2, 2, 2}, 1, {1, 1, 1}), {0, 1, 2}, 1);
  const ia::Plan turned = cube.map(KeyFunction("<k0, k2, k1>"), {});
  EXPECT_TRUE(rule_named("aggregate_before_rekey").apply(sums_by(turned)));
  expect_refusal_by("aggregate_before_rekey", sums_by(turned, "sub"), "depends on the order");
}

TEST(RuleConditions, FiltersOfBothSidesStayBehindTheJoin) {
  const Plan matrices = matrix({3, 3});
  const ia::Plan left = placed(matrices, {0}), right = left.broadcast();
  const ia::Plan join = left.join(right, {1}, {0}, {"matmul"});
  expect_refusal_by("filter_before_join", join.filter("k0 < k2"), "reads only one side");
  // As printed, the law would ask both sides; k0 of the right side is another component.
  const auto rewrite = rule_named("filter_before_join").apply(join.filter("k0 = 1"));
  ASSERT_TRUE(rewrite);
  const auto& after = std::get<ia::Join>(operator_of(*rewrite.plan));
  EXPECT_TRUE(std::holds_alternative<ia::Filter>(operator_of(after.left)));
  EXPECT_TRUE(after.right.is_same(right));
  EXPECT_FALSE(relations_equal(
      ia::interpret(left.filter("k0 = 1").join(right.filter("k0 = 1"), {1}, {0}, {"matmul"})),
      ia::interpret(join.filter("k0 = 1"))));
}

TEST(RuleConditions, APredicateThatCannotBeLookedIntoStays) {
  const ia::Plan left = placed(matrix({3, 3}), {0});
  const ia::Plan join = left.join(left.broadcast(), {1}, {0}, {"matmul"});
  const auto opaque = KeyPredicate::opaque("first", [](const Key& key) { return key[0] == 0; });
  expect_refusal_by("filter_before_join", join.filter(opaque), "reads only one side");
  // Asked of a group's key it is the same question before and after.
  const ia::Plan groups = left.aggregate({0}, {"add"}).filter(opaque);
  const auto rewrite = rule_named("filter_before_aggregation").apply(groups);
  ASSERT_TRUE(rewrite) << rewrite.why_not;
  EXPECT_TRUE(relations_equal(ia::interpret(*rewrite.plan), ia::interpret(groups)));
}

TEST(RuleConditions, APredicateWithoutAValueSomewhereStays) {
  // The left side has k0 = 3, which finds no partner and would divide by zero.
  const ia::Plan left = placed(matrix({4, 1}), {0}), right = placed(matrix({3, 1}, 2), {0});
  const ia::Plan join = left.join(right.broadcast(), {0}, {0}, {"add"});
  const KeyPredicate predicate("6 div (3 - k0) > 2 and k0 < 2");
  EXPECT_ERROR(ValueError, ia::interpret(left.filter("6 div (3 - k0) > 2")), "k0");
  const auto rewrite = rule_named("filter_before_join").apply(join.filter(predicate));
  ASSERT_TRUE(rewrite) << rewrite.why_not;  // the right side alone is asked the first part
  EXPECT_TRUE(relations_equal(ia::interpret(*rewrite.plan), ia::interpret(join.filter(predicate))));
}

TEST(RuleConditions, ZerosBecomeNoHoles) {
  // The result has the box of keys 0 and 1, absent ones zero; the left side would have a hole.
  const Plan zeros = Plan::input(
      Relation::of({{Key{2}, {Tile::scalar<std::int64_t>(3)}}}, Presence::sparse, Key{3}), "S");
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < 6; ++i) tuples.push_back({Key{i}, {Tile::scalar(i)}});
  const ia::Plan left = placed(Plan::input(Relation::of(tuples), "R"), {0});
  const ia::Plan join = left.join(placed(zeros, {0}).broadcast(), {0}, {0}, {"mul"});
  ASSERT_EQ(join.type().presence, Presence::sparse);
  const ia::Plan plan = join.filter("k0 < 2 or k0 = 5");
  ASSERT_EQ(plan.type().presence, Presence::sparse);
  expect_right_refusal(
      "filter_before_join", plan,
      left.filter("k0 < 2 or k0 = 5").join(placed(zeros, {0}).broadcast(), {0}, {0}, {"mul"}),
      "zeros");
}

TEST(RuleConditions, OnlyMapsThatDistributePassAJoin) {
  const ia::Plan left = placed(matrix({3, 3}), {0}), right = placed(matrix({3, 3}, 2), {0});
  const auto join = [&](const ia::Plan& l, const ia::Plan& r, const char* kernel) {
    return l.join(r.broadcast(), {0, 1}, {0, 1}, {kernel});
  };
  expect_right_refusal("map_before_join", join(left, right, "mul").map(std::nullopt, neg),
                       join(left.map(std::nullopt, neg), right.map(std::nullopt, neg), "mul"),
                       "distribute");
  expect_refusal_by("map_before_join", join(left, right, "add").map(KeyFunction("<k1, k0>"), neg),
                    "changes the keys");
  EXPECT_TRUE(rule_named("map_before_join").apply(join(left, right, "add").map(std::nullopt, neg)));
}

TEST(RuleConditions, AMapOfWholeTilesDoesNotPassABroadcastOfTiles) {
  // The sum of 2x2 and 1x2: summed before, the smaller tile counts once instead of twice.
  const ia::Plan left = placed(matrix({3, 3}), {0});
  const ia::Plan right = placed(matrix({3, 3}, 2, {1, 2}), {0}).broadcast();
  const ia::Pipeline sum = {{"sum(axes=[0])"}};
  expect_right_refusal(
      "map_before_join", left.join(right, {0, 1}, {0, 1}, {"add"}).map(std::nullopt, sum),
      left.map(std::nullopt, sum).join(right.map(std::nullopt, sum), {0, 1}, {0, 1}, {"add"}),
      "different shapes");
}

TEST(RuleConditions, AShuffleGoesByTheKeysBeforeTheMap) {
  const ia::Plan input = placed(matrix({3, 2}), {0});
  const KeyFunction turned("<k1, k0>");
  const ia::Plan after = input.shuffle({1}).map(turned, neg);
  const ia::Plan before = input.map(turned, neg).shuffle({1});
  EXPECT_NE(after.placement(), before.placement());
  expect_refusal_by("map_before_move", after, "keys that the shuffle uses");
  const ia::Pipeline more = {{Apply("neg", {0}), Apply("abs", {0})}};
  expect_refusal_by("map_after_move", input.map(turned, more).shuffle({1}),
                    "keys that the shuffle uses");
  EXPECT_TRUE(rule_named("map_before_move").apply(input.broadcast().map(turned, neg)));
}

TEST(RuleConditions, AShuffleIsNeededWhereGroupsAreNotTogether) {
  // Within <0>, as the paper asks of the shuffle; but it is the input that must lie so.
  const ia::Plan input = placed(matrix({3, 3}), {1});
  expect_refusal_by("skip_shuffle", input.shuffle({0}).aggregate({0}, {"add"}), "at several sites");
  expect_refusal_by("skip_shuffle", input.shuffle({0}).aggregate({0}, {"sub"}), "not known");
  const ia::Plan moved = input.shuffle(Placement::grid({1}, {2}, 3));
  EXPECT_TRUE(rule_named("skip_shuffle").apply(moved.aggregate({1}, {"sub"})));
}

TEST(RuleConditions, OnlySumsInAnyOrderAreTakenInParts) {
  const ia::Plan input = placed(matrix({3, 4}), {1});
  const auto plan = [&](const char* kernel) { return input.shuffle({0}).aggregate({0}, {kernel}); };
  expect_refusal_by("aggregate_twice", plan("sub"), "sub is not known");
  expect_refusal_by("aggregate_twice", plan("matmul"), "matmul is not known");
  const auto rewrite = rule_named("aggregate_twice").apply(plan("add"));
  ASSERT_TRUE(rewrite) << rewrite.why_not;
  expect_refusal_by("aggregate_twice", *rewrite.plan, "second aggregation");
  expect_refusal_by("aggregate_twice", input.shuffle({0, 1}).aggregate({1}, {"add"}),
                    "does not bring the groups together");
  expect_refusal_by("aggregate_twice", input.shuffle({0}).shuffle({1}).aggregate({1}, {"add"}),
                    "lies together before");
  // What would go wrong: (a - b) - (c - d).
  const Plan parts = matrix({3, 4}).rekey("<k0, k1 div 2, k1 mod 2>").aggregate({0, 1}, "sub");
  EXPECT_FALSE(relations_equal(parts.aggregate({0}, "sub").run(), ia::interpret(plan("sub"))));
}

TEST(RuleConditions, AProductOfAllPairsHasNothingToShuffleOn) {
  const ia::Plan input = placed(matrix({2, 2}), {0});
  const ia::Plan join = input.join(input.broadcast(), {}, {}, {"matmul"});
  expect_refusal_by("shuffle_both", join, "no key component");
  expect_refusal_by("broadcast_right", join, "so already");
}

TEST(RuleConditions, AShuffleOfAJoinStaysIfTheJoinLiesElsewhere) {
  const ia::Plan input = placed(matrix({3, 3}), {0});
  const ia::Plan join = input.shuffle({1}).join(input, {1}, {0}, {"matmul"});
  EXPECT_TRUE(rule_named("join_through_shuffle").apply(join.shuffle({1})));
  EXPECT_TRUE(rule_named("join_through_shuffle").apply(join.shuffle({0, 1})));
  expect_refusal_by("join_through_shuffle", join.shuffle({0}), "not PART<0>");
  expect_refusal_by("join_through_shuffle", join.shuffle(Placement::all(3)), "copies");
}

}  // namespace
}  // namespace tessera
