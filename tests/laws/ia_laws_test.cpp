// What must hold of the implementation algebra: plans over sites compute what they compute without.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/random_plans.h"

namespace tessera {
namespace {

TEST(IaLaws, TranslatedPlansComputeWhatTheAlgebraSays) {
  int ran = 0, fused = 0;
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
      // Joins and the aggregations of their products as one operator: the same, to the last bit.
      const ia::Plan one = ia::fused(physical);
      EXPECT_TRUE(relations_equal(ia::interpret(one), *expected)) << one.explain();
      EXPECT_EQ(one.placement(), physical.placement()) << "seed " << seed;
      EXPECT_LE(ia::in_order(one).size(), ia::in_order(physical).size());
      fused += ia::in_order(one).size() < ia::in_order(physical).size() ? 1 : 0;
      EXPECT_TRUE(ia::fused(one).is_same(one));
      ++ran;
    } catch (const Error& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
    }
  }
  EXPECT_GT(ran, 1000);
  EXPECT_GT(fused, 10);
  RecordProperty("ran", ran);
}

TEST(IaLaws, WhatIsWrittenTwiceIsComputedOnce) {
  const Relation r = Relation::from_tensor(random_integers(DType::i64, {6, 5}, 1, -3, 4), {2, 2});
  const auto product = [&] {
    const Plan a = Plan::input(r, "A");
    return a.join(a.transform("transpose"), {1}, {1}, "matmul").aggregate({0, 2}, "add");
  };
  const Plan sum = product().join(product(), {0, 1}, {0, 1}, "add");
  const ia::Plan physical = ia::translate(sum, ia::round_robin(3));
  int joins = 0, inputs = 0;
  for (const ia::Plan& node : ia::in_order(physical)) {
    joins += std::holds_alternative<ia::Join>(ia::operator_of(node)) ? 1 : 0;
    inputs += std::holds_alternative<ia::Input>(ia::operator_of(node)) ? 1 : 0;
  }
  EXPECT_EQ(joins, 2);
  EXPECT_EQ(inputs, 1);
  EXPECT_TRUE(relations_equal(ia::interpret(physical), sum.interpret()));
  // Functions that cannot be looked into are not taken for each other.
  const auto hidden = [](std::int64_t shift) {
    return KeyFunction::opaque("f", 2, [shift](const Key& k) { return Key{k[0] + shift, k[1]}; });
  };
  const Plan a = Plan::input(r, "A");
  const Plan apart = a.rekey(hidden(0)).join(a.rekey(hidden(1)), {0, 1}, {0, 1}, "sub");
  EXPECT_TRUE(relations_equal(ia::interpret(ia::translate(apart, ia::round_robin(2))),
                              apart.interpret(Holes::allowed)));
}

}  // namespace
}  // namespace tessera
