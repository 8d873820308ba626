// The rules that the optimizer applies before it searches: with each of them off, and with all on,
// plans compute the same.

#include "optimizer/simplify.h"

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/law_trials.h"
#include "support/plan_lines.h"

namespace tessera {
namespace {

using namespace optimizer;

/// A random plan under operators that some rule is made for.
std::optional<Plan> random_plan_to_simplify(Random& random) {
  if (random.chance(0.3)) return random_plan(random, static_cast<int>(random.between(2, 6)));
  Plan plan = random_source(random);
  for (std::int64_t step = random.between(2, 5); step > 0; --step) {
    const int arity = plan.type().arity();
    const bool columns = plan.type().columns.size() == 1;
    switch (random.between(0, 6)) {
      case 0:
      case 1: plan = plan.filter(random_predicate(random, arity)); break;
      case 2: plan = random_transform(random, plan); break;
      case 3:
        plan = random_join(random, plan, random.chance(0.3) ? plan : random_source(random),
                           {"add", "mul", "sub"});
        break;
      case 4: plan = plan.aggregate(random_components(random, arity, 0.6), "add"); break;
      case 5:
        if (arity == 2) plan = plan.rekey("<k1, k0>").aggregate({1}, "add");
        break;
      default:
        if (columns && plan.type().columns[0].type.shape.rank() > 0)
          plan = plan.transform("sum(axes=[0])");
    }
  }
  return plan;
}

TEST(Simplify, EachRuleOffAndAllOnComputeTheSame) {
  std::map<std::string, int> fired;
  int ran = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    std::optional<Plan> plan;
    std::optional<Relation> expected;
    try {
      plan = random_plan_to_simplify(random);
      if (!plan || plan->cardinality().tuples > 300) continue;
      expected = plan->interpret(Holes::allowed);
    } catch (const InternalError& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    } catch (const Error&) {
      continue;  // random plans are allowed to be wrong
    }
    const int sites = static_cast<int>(random.between(1, 6));
    const ia::PlaceInput places = random_places(random, sites);
    std::vector<std::set<std::string>> settings{{}};
    for (const std::string& rule : simplifying_rules()) settings.push_back({rule});
    for (const std::set<std::string>& disabled : settings) try {
        const Simplified simple = simplify({ia::translate(*plan, places)}, disabled);
        for (const RuleUse& use : simple.rules) {
          EXPECT_FALSE(disabled.contains(use.rule));
          if (disabled.empty()) fired[use.rule] += use.fired;
        }
        EXPECT_TRUE(relations_equal(ia::interpret(simple.plans.front()), *expected))
            << "seed " << seed << "\n"
            << plan->explain() << "became\n"
            << simple.plans.front().explain();
      } catch (const Error& error) {
        FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
      }
    OptimizerOptions options;
    options.sites = sites;
    options.placed = places;
    EXPECT_TRUE(relations_equal(ia::interpret(optimize(*plan, options).plan()), *expected))
        << "seed " << seed;
    ++ran;
    if (HasFailure()) return;
  }
  EXPECT_GE(ran, 500);
  for (const std::string& rule : simplifying_rules()) EXPECT_GE(fired[rule], 10) << rule;
}

Plan matrix(std::int64_t tiles) {
  return Plan::input(RelationType{{{"", {DType::f64, {10, 10}, 0}}}, {tiles, tiles}}, "R");
}

TEST(Simplify, TheDiagonalOfASumAsInThePaper) {
  const Plan diagonal = matrix(4).join(matrix(4), {0, 1}, {0, 1}, "add").filter("k0 = k1");
  const Simplified simple = simplify({ia::translate(diagonal, ia::round_robin(4))});
  EXPECT_EQ(lines(simple.plans.front()),
            (std::vector<std::string>{"Join <0, 1> = <0, 1> with add", "BCAST", "Filter k0 = k1",
                                      "Input R", "Filter k0 = k1", "Input R"}));
}

TEST(Simplify, WhatIsFoldedIsMadeSmallerBefore) {
  const Plan sums = matrix(4).join(matrix(4), {0, 1}, {0, 1}, "mul").aggregate({0}, "add");
  const Simplified rows = simplify({ia::translate(sums.transform("row_sum"), ia::round_robin(4))});
  EXPECT_EQ(lines(rows.plans.front()).front(), "Aggregate by <0> with add");
  const Simplified all = simplify({ia::translate(sums.transform("neg"), ia::round_robin(4))});
  EXPECT_EQ(lines(all.plans.front()).front(), "Map with neg");
}

/// A vector of tiles has components of extent 1, which SQL leaves out.
TEST(Simplify, AnAggregationFollowsAJoinWhoseKeyIsRenamed) {
  const Plan sums = matrix(4).join(matrix(4), {1}, {0}, "matmul").rekey("<k2, k0, k1>");
  for (const int sites : {1, 4}) {
    const Simplified simple =
        simplify({ia::translate(sums.aggregate({0, 1}, "add"), ia::round_robin(sites))});
    EXPECT_EQ(lines(simple.plans.front()).front(), "Aggregate by <2, 0> with add");
    EXPECT_EQ(lines(simple.plans.front())[sites > 1 ? 2 : 1], "Join <1> = <0> with matmul");
  }
}

TEST(Simplify, WhatOthersReadIsLeftAlone) {
  const Plan shared = matrix(4).transform("neg");
  const Plan both = shared.transform("relu").join(shared, {0, 1}, {0, 1}, "add");
  const Simplified simple = simplify({ia::translate(both, ia::round_robin(4))});
  for (const RuleUse& use : simple.rules) EXPECT_EQ(use.fired, 0) << use.rule;
}

TEST(Simplify, IsToldByExplainAndJson) {
  OptimizerOptions options;
  options.sites = 4;
  const Plan plan = matrix(4).filter("k0 < 2").filter("k1 < 2");
  EXPECT_NE(optimize(plan, options).explain().find("rewritten by merge_filters (1)"),
            std::string::npos);
  EXPECT_NE(optimize(plan, options).json().find("\"rule\": \"merge_filters\""), std::string::npos);
  options.disabled = {"merge_filters"};
  EXPECT_EQ(optimize(plan, options).explain().find("rewritten"), std::string::npos);
  options.disabled = {"merge_filtres"};
  EXPECT_ERROR(PlanError, optimize(plan, options), "did you mean \"merge_filters\"");
}

}  // namespace
}  // namespace tessera
