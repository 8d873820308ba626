#include <gtest/gtest.h>

#include "ia/contents.h"
#include "ia/evaluate.h"
#include "ia/list_tuples.h"
#include "support/expectations.h"
#include "support/random_plans.h"
#include "tessera/optimizer.h"

// Relations of few tuples whose keys are far apart: nothing is counted that is not there.

namespace tessera {
namespace {

constexpr std::int64_t farthest = (std::int64_t{1} << 62) - 1;

Relation far_vectors(const std::vector<Key>& keys, double first = 1) {
  std::vector<Tuple> tuples;
  for (const Key& key : keys) tuples.push_back({key, {Tile::full(DType::f64, {3}, first++)}});
  return Relation::of(std::move(tuples), Presence::partial);
}

const KernelCall add("add");
const Apply multiplied{"mul", {0, 1}};

/// What was predicted of a plan crosses when it runs, and the result is that of the definition.
void expect_as_predicted(const Plan& plan, int sites, bool exact = true) {
  OptimizerOptions options;
  options.sites = sites;
  const OptimizedPlan optimized = optimize(plan, options);
  ia::Traffic traffic(sites);
  const Relation result = ia::interpret(optimized.plans.front(), &traffic);
  EXPECT_TRUE(relations_equal(result, plan.interpret(Holes::allowed))) << plan.explain();
  EXPECT_EQ(optimized.cost.exact, exact) << plan.explain();
  if (exact) EXPECT_EQ(optimized.cost.total.floats_moved, traffic.total) << plan.explain();
  RunOptions run;
  run.sites = sites;
  run.holes = Holes::allowed;
  EXPECT_TRUE(relations_equal(tessera::run(plan, run), result)) << plan.explain();
}

TEST(FarKeys, GroupsAndJoinsCostWhatTheirTuplesDo) {
  const Plan a = Plan::input(far_vectors({{1}, {5'000'000'000}, {farthest}}), "A");
  const Plan b = Plan::input(far_vectors({{2}, {5'000'000'000}, {farthest - 1}, {farthest}}), "B");
  const Plan joined = a.join(b, {0}, {0}, multiplied);
  EXPECT_EQ(ia::list_tuples(joined)->tuples.size(), 2u);
  EXPECT_TRUE(ia::contents_of(joined).exact);
  for (int sites : {1, 2, 4, 7}) {
    expect_as_predicted(a.aggregate({0}, add), sites);
    expect_as_predicted(a.aggregate({}, add), sites);
    expect_as_predicted(joined, sites);
    expect_as_predicted(joined.transform(Apply{"exp"}).aggregate({}, add), sites);
    expect_as_predicted(joined.filter("k0 > 7").join(b, {0}, {0}, multiplied), sites);
  }
}

TEST(FarKeys, OfTwoComponents) {
  const Plan a = Plan::input(far_vectors(
      {{0, 3'000'000'000}, {7, 5}, {1'000'000'000, 3'000'000'000}, {1'000'000'000, 5}}));
  for (int sites : {1, 3, 4}) {
    expect_as_predicted(a.aggregate({1}, add), sites);
    expect_as_predicted(a.aggregate({0}, KernelCall("maximum")), sites);
    expect_as_predicted(a.aggregate({1}, add).join(a, {0}, {1}, multiplied), sites);
    expect_as_predicted(a.rekey("<i, j> -> <j, i>").aggregate({1}, add), sites);
    expect_as_predicted(a.rekey("<i, j> -> <j div 2, i + 1>").aggregate({1}, add), sites);
  }
}

TEST(FarKeys, OneTupleOrNone) {
  const Plan one = Plan::input(far_vectors({{farthest}}));
  const Plan other = Plan::input(far_vectors({{3}, {farthest - 1}}));
  for (int sites : {1, 4}) {
    expect_as_predicted(one.aggregate({0}, add), sites);
    expect_as_predicted(one.join(other, {0}, {0}, multiplied), sites);
    expect_as_predicted(one.join(other, {0}, {0}, multiplied).aggregate({}, add), sites);
  }
}

TEST(FarKeys, RandomTuplesAtRandomPlaces) {
  for (int seed = 0; seed < 60; ++seed) {
    Random random(static_cast<unsigned>(seed));
    const auto far = [&] {
      std::vector<Key> keys;
      for (std::int64_t i = 0; i < 6; ++i)
        for (std::int64_t k = 0; k < 3; ++k)
          if (random.chance(0.5)) keys.push_back({i * 1'000'003, k * 100'003});
      if (keys.empty()) keys.push_back({3, 1'000'000'000});
      return Plan::input(far_vectors(keys));
    };
    const Plan a = far(), b = far();
    const Plan product_of = a.join(b, {1}, {1}, multiplied).aggregate({0, 2}, add);
    const int sites = 1 + seed % 6;
    const ia::Plan plan = ia::translate(product_of, random_places(random, sites));
    ia::Traffic traffic(sites);
    (void)ia::interpret(plan, &traffic);
    const PlanCost cost = cost_of(plan);
    EXPECT_TRUE(cost.exact);
    EXPECT_EQ(cost.total.floats_moved, traffic.total) << "seed " << seed;
    expect_as_predicted(product_of, sites);
  }
}

TEST(FarKeys, WhatIsNotKnownIsEstimated) {
  const RelationType unknown{{{"v", {DType::f64, {3}}}}, {3'000'000'000}, Presence::partial};
  const Plan a = Plan::input(unknown, "A"), b = Plan::input(unknown, "B");
  EXPECT_EQ(ia::list_tuples(a), nullptr);
  EXPECT_EQ(ia::estimated_tuples(a.join(b, {0}, {0}, multiplied)), 3e9);
  const Plan few = Plan::input(far_vectors({{1}, {2'999'999'999}}));
  EXPECT_EQ(ia::estimated_tuples(few.join(a, {0}, {0}, multiplied)), 2);
  OptimizerOptions options;
  options.sites = 4;
  const OptimizedPlan optimized =
      optimize(a.join(b, {0}, {0}, multiplied).aggregate({}, add), options);
  EXPECT_FALSE(optimized.cost.exact);
  EXPECT_GT(optimized.cost.total.flops, 1e9);
}

TEST(FarKeys, MoreThanIsListedIsCounted) {
  std::vector<Key> left, right;
  for (std::int64_t i = 0; i < 1100; ++i) left.push_back({i * 10'007, 99'999});
  for (std::int64_t j = 0; j < 1000; ++j) right.push_back({99'999, j * 1'007});
  const Plan joined =
      Plan::input(far_vectors(left)).join(Plan::input(far_vectors(right)), {1}, {0}, multiplied);
  EXPECT_EQ(ia::list_tuples(joined), nullptr);
  EXPECT_EQ(ia::estimated_tuples(joined), 1'100'000);
  OptimizerOptions options;
  options.sites = 4;
  const OptimizedPlan optimized = optimize(joined.aggregate({0}, add), options);
  EXPECT_EQ(optimized.cost.total.flops, 3 * 1'100'000.0);  // added to the sums as they are made
  EXPECT_NE(optimized.explain().find("Aggregate"), std::string::npos);
}

TEST(FarKeys, OfASparseRelationAreRemapped) {
  const Relation sparse = Relation::of({{{4, 2'999'999}, {Tile::full(DType::f64, {2, 3}, 1)}},
                                        {{1999, 7}, {Tile::full(DType::f64, {2, 3}, 2)}}},
                                       Presence::sparse, Key{2000, 3'000'000});
  const Plan turned = Plan::input(sparse).rekey("<i, j> -> <j, i>");
  EXPECT_EQ(turned.type().presence, Presence::sparse);
  EXPECT_EQ(turned.frontier(), (Key{3'000'000, 2000}));
  RunOptions options;
  options.sites = 3;
  const Relation result = tessera::run(turned, options);
  EXPECT_EQ(result.size(), 2);
  EXPECT_EQ(result.at({7, 1999}).at<double>({0, 0}), 2);
  EXPECT_EQ(result.at({8, 1999}).shape(), (Shape{2, 3}));
}

}  // namespace
}  // namespace tessera
