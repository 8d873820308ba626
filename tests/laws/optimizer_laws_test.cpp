// What must hold of the optimizer: the plans it finds compute the same, move what was predicted,
// and nothing cheaper was to be had.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "optimizer/place.h"
#include "support/exhaustive_search.h"
#include "support/expectations.h"
#include "support/random_plans.h"
#include "tessera/optimizer.h"

namespace tessera {
namespace {

TEST(OptimizerLaws, OptimizedPlansComputeTheSameAndMoveWhatWasPredicted) {
  int ran = 0;
  for (std::uint64_t seed = 0; seed < 3500; ++seed) {
    Random random(seed);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 6)));
    if (!plan) continue;
    const std::optional<Relation> expected = interpreted(*plan);
    if (!expected) continue;
    OptimizerOptions options;
    options.sites = static_cast<int>(random.between(1, 9));
    options.objective = random.chance(0.2) ? Objective::published : Objective::exact;
    const ia::PlaceInput places = random_places(random, options.sites);
    if (random.chance(0.7)) options.placed = places;
    try {
      const OptimizedPlan optimized = optimize(*plan, options);
      ia::Traffic traffic(options.sites);
      EXPECT_TRUE(relations_equal(ia::interpret(optimized.plan(), &traffic), *expected))
          << "seed " << seed << "\n"
          << optimized.plan().explain();
      EXPECT_EQ(optimized.cost.total.floats_moved, traffic.total) << "seed " << seed << "\n"
                                                                  << optimized.plan().explain();
      ++ran;
    } catch (const Error& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
    }
  }
  EXPECT_GE(ran, 2000);
  RecordProperty("ran", ran);
}

TEST(OptimizerLaws, PlansPlacedPartByPartComputeTheSameAndMoveWhatWasPredicted) {
  int in_parts = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed + 500000);
    const auto plan = random_plan(random, static_cast<int>(random.between(3, 10)));
    if (!plan) continue;
    const std::optional<Relation> expected = interpreted(*plan);
    if (!expected) continue;
    OptimizerOptions options;
    options.sites = static_cast<int>(random.between(2, 6));
    const ia::PlaceInput places = random_places(random, options.sites);
    if (random.chance(0.5)) options.placed = places;
    const auto most = static_cast<std::size_t>(random.between(2, 5));
    const std::vector<Plan> results{*plan, random.chance(0.3) ? *plan : plan->transform("neg")};
    try {
      const std::vector<ia::Plan> written =
          ia::translate(results, options.placed ? places : ia::round_robin(options.sites));
      const optimizer::PlacedPlans placed = optimizer::place(written, options, most);
      in_parts += placed.parts.size() > 1 ? 1 : 0;
      ASSERT_EQ(placed.plans.size(), 2u);
      const ia::Plan& first = placed.plans.front();
      ia::Traffic traffic(options.sites);
      EXPECT_TRUE(relations_equal(ia::interpret(first, &traffic), *expected))
          << "seed " << seed << "\n"
          << first.explain();
      EXPECT_EQ(cost_of(first).total.floats_moved, traffic.total) << "seed " << seed;
      // Inputs, and whatever else several parts read, are there once.
      std::set<const Plan::Node*> inputs;
      for (const ia::Plan& node : ia::in_order(placed.plans))
        if (std::holds_alternative<ia::Input>(ia::operator_of(node)))
          EXPECT_TRUE(inputs.insert(&node.logical().node()).second) << "seed " << seed;
    } catch (const Error& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
    }
  }
  EXPECT_GT(in_parts, 500);
}

/// A product of matrices of some shape and tiling, known by its type only.
Plan random_product(Random& random, int most_tiles) {
  const auto tiles = [&] { return random.between(1, most_tiles); };
  const auto side = [&] { return random.pick(std::vector<std::int64_t>{10, 100, 1000, 3000}); };
  const Key frontier{tiles(), tiles(), tiles()};
  const std::int64_t m = side(), k = side(), n = side();
  const Plan a =
      Plan::input(RelationType{{{"", {DType::f64, {m, k}, 0}}}, {frontier[0], frontier[1]}}, "A");
  const Plan b =
      Plan::input(RelationType{{{"", {DType::f64, {k, n}, 0}}}, {frontier[1], frontier[2]}}, "B");
  return a.join(b, {1}, {0}, "matmul").aggregate({0, 2}, "add");
}

void expect_cheapest(const Plan& plan, const OptimizerOptions& options, std::uint64_t seed) {
  const OptimizedPlan found = optimize(plan, options);
  const CheapestPlan least = exhaustive_search(plan, options);
  EXPECT_LE(found.cost.value(options.objective), least.cost * (1 + 1e-9))
      << "seed " << seed << "\n"
      << found.explain() << "is not as cheap as\n"
      << least.plan.explain();
}

OptimizerOptions random_options(Random& random, int most_sites) {
  OptimizerOptions options;
  options.sites = static_cast<int>(random.between(2, most_sites));
  options.machine.link_bytes = random.pick(std::vector<double>{1e7, 1e8, 1e9, 1e10});
  options.objective = random.chance(0.2) ? Objective::published : Objective::exact;
  options.placed = random_places(random, options.sites);
  return options;
}

TEST(OptimizerLaws, NothingCheaperIsFoundByLookingAtEveryGrid) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const OptimizerOptions options = random_options(random, 6);
    Plan plan = random_product(random, 4);
    if (random.chance(0.3)) plan = plan.transform("relu");
    expect_cheapest(plan, options, seed);
  }
}

TEST(OptimizerLaws, NothingCheaperIsFoundForTwoProducts) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const OptimizerOptions options = random_options(random, 3);
    const Plan product = random_product(random, 3);
    const Shape& shape = product.type().columns[0].type.shape;
    const Plan third = Plan::input(RelationType{{{"", {DType::f64, {shape[1], 100}, 0}}},
                                                {product.frontier()[1], random.between(1, 3)}},
                                   "C");
    expect_cheapest(product.join(third, {1}, {0}, "matmul").aggregate({0, 2}, "add"), options,
                    seed);
  }
}

}  // namespace
}  // namespace tessera
