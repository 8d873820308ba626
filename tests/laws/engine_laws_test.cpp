// What must hold of the engine: it computes what the reference does and moves what it moves, on any
// number of sites and threads.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/random_plans.h"

namespace tessera {
namespace {

std::optional<Relation> interpreted(const Plan& plan) {
  try {
    return plan.interpret(Holes::allowed);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;  // random plans are allowed to be wrong
  }
}

TEST(EngineLaws, PlansOverSitesComputeAndMoveWhatTheReferenceDoes) {
  int ran = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 6)));
    if (!plan) continue;
    const std::optional<Relation> expected = interpreted(*plan);
    if (!expected) {
      EXPECT_THROW(plan->run(Holes::allowed), Error) << "seed " << seed << "\n" << plan->explain();
      continue;
    }
    const int sites = static_cast<int>(random.between(1, 9));
    RunOptions options;
    options.holes = Holes::allowed;
    options.threads = static_cast<int>(random.between(1, 4));
    try {
      const ia::Plan physical = ia::translate(*plan, random_places(random, sites));
      ia::Traffic traffic(sites);
      (void)ia::interpret(physical, &traffic);
      RunReport report;
      EXPECT_TRUE(relations_equal(run(physical, options, &report), *expected))
          << "seed " << seed << "\n"
          << physical.explain();
      EXPECT_EQ(report.floats_moved, traffic.total) << "seed " << seed;
      EXPECT_EQ(report.sent, traffic.sent) << "seed " << seed;
      EXPECT_EQ(report.received, traffic.received) << "seed " << seed;
      // And as a user runs it, on one site, where aggregations fold the products of joins.
      EXPECT_TRUE(relations_equal(plan->run(options), *expected)) << "seed " << seed << "\n"
                                                                  << plan->explain();
      ++ran;
    } catch (const Error& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
    }
  }
  EXPECT_GT(ran, 1000);
  RecordProperty("ran", ran);
}

}  // namespace
}  // namespace tessera
