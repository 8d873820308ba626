// What must hold of the optimizer: the plans it finds compute the same, move what was predicted, and
// nothing cheaper was to be had.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
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
    std::optional<Relation> expected;
    try {
      expected = plan->run(Holes::allowed);
    } catch (const InternalError& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    } catch (const Error&) {
      continue;  // random plans are allowed to be wrong
    }
    OptimizerOptions options;
    options.sites = static_cast<int>(random.between(1, 9));
    options.objective = random.chance(0.2) ? Objective::published : Objective::exact;
    const ia::PlaceInput places = random_places(random, options.sites);
    if (random.chance(0.7)) options.placed = places;
    try {
      const OptimizedPlan optimized = optimize(*plan, options);
      ia::Traffic traffic(options.sites);
      EXPECT_TRUE(relations_equal(ia::interpret(optimized.plan, &traffic), *expected))
          << "seed " << seed << "\n"
          << optimized.plan.explain();
      EXPECT_EQ(optimized.cost.total.floats_moved, traffic.total)
          << "seed " << seed << "\n"
          << optimized.plan.explain();
      ++ran;
    } catch (const Error& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
    }
  }
  EXPECT_GE(ran, 2000);
  RecordProperty("ran", ran);
}

}  // namespace
}  // namespace tessera
