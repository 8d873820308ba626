// What must hold of the implementation algebra: plans over sites compute what they compute without.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/random_plans.h"

namespace tessera {
namespace {

TEST(IaLaws, TranslatedPlansComputeWhatTheAlgebraSays) {
  int ran = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 6)));
    if (!plan) continue;
    std::optional<Relation> expected;
    try {
      expected = plan->interpret(Holes::allowed);
    } catch (const InternalError& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    } catch (const Error&) {
      continue;  // random plans are allowed to be wrong
    }
    const int sites = static_cast<int>(random.between(1, 9));
    try {
      const ia::Plan physical = ia::translate(*plan, random_places(random, sites));
      EXPECT_TRUE(relations_equal(ia::interpret(physical), *expected)) << "seed " << seed << "\n"
                                                                       << physical.explain();
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
