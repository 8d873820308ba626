// Rewriting a node deep in a plan: what is above is rebuilt, what is shared stays shared.

#include "support/rewrite_at.h"

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/law_trials.h"

namespace tessera {
namespace {

ia::Plan input(const std::vector<int>& components) {
  const Tile values = random_integers(DType::i64, Shape{6, 6}, 1, -9, 9);
  const Plan plan = Plan::input(Relation::from_tensor(values, Shape{2, 2}), "R");
  return ia::Plan::input(plan, Placement::part(components, plan.frontier(), 3));
}

TEST(RewriteAt, RebuildsWhatIsSharedOnce) {
  const ia::Plan shared = input({0}).filter("k0 < 2").filter("k1 < 2");
  const ia::Plan both = shared.map(std::nullopt, {{"neg"}});
  const ia::Plan root = both.join(shared.broadcast(), {0, 1}, {0, 1}, {"add"});
  const auto rewrite = rewrite_at(root, shared, rule_named("merge_filters"));
  ASSERT_TRUE(rewrite) << rewrite.why_not;
  EXPECT_EQ(ia::in_order(*rewrite.plan).size(), ia::in_order(root).size() - 1);
  EXPECT_TRUE(rewrite.plan->logical().is_same(root.logical()));
  EXPECT_TRUE(relations_equal(ia::interpret(*rewrite.plan), ia::interpret(root)));
}

TEST(RewriteAt, KeepsWhatDoesNotReadTheNode) {
  const ia::Plan other = input({1}).broadcast();
  const ia::Plan filters = input({0}).filter("k0 < 2").filter("k1 < 2");
  const ia::Plan root = filters.join(other, {0, 1}, {0, 1}, {"add"});
  const auto rewrite = rewrite_at(root, filters, rule_named("merge_filters"));
  ASSERT_TRUE(rewrite) << rewrite.why_not;
  EXPECT_TRUE(std::get<ia::Join>(operator_of(*rewrite.plan)).right.is_same(other));
}

TEST(RewriteAt, SaysWhatRefusesTheNewPlan) {
  // Without its broadcast on the left, the join lies where the upper join does not find it.
  const ia::Plan lower = input({0}).join(input({1}).broadcast(), {0, 1}, {0, 1}, {"add"});
  const ia::Plan root = lower.join(input({0}), {0, 1}, {0, 1}, {"add"});
  const auto rewrite = rewrite_at(root, lower, rule_named("broadcast_left"));
  EXPECT_FALSE(rewrite);
  EXPECT_NE(rewrite.why_not.find("shuffle or broadcast"), std::string::npos) << rewrite.why_not;
}

TEST(RewriteAt, LeavesNoSummandsBehind) {
  const ia::Plan lower = input({0}).join(input({1}).broadcast(), {0, 1}, {0, 1}, {"add"});
  const ia::Plan root = lower.aggregate({0}, {"add"});
  const auto rewrite = rewrite_at(root, lower, rule_named("broadcast_left"));
  EXPECT_FALSE(rewrite);
  EXPECT_NE(rewrite.why_not.find("several sites"), std::string::npos) << rewrite.why_not;
}

TEST(RewriteAt, PassesOnWhyTheRuleDoesNotApply) {
  const ia::Plan root = input({0}).filter("k0 < 2");
  EXPECT_EQ(rewrite_at(root, root, rule_named("merge_filters")).why_not,
            "its input is not a filter");
  const ia::Plan elsewhere = input({0}).filter("k0 < 2").filter("k1 < 2");
  const auto rewrite = rewrite_at(root, elsewhere, rule_named("merge_filters"));
  EXPECT_NE(rewrite.why_not.find("not part of the plan"), std::string::npos) << rewrite.why_not;
}

}  // namespace
}  // namespace tessera
