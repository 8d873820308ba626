#include <gtest/gtest.h>

#include <random>

#include "support/naive_closedness.h"
#include "tessera/key.h"

namespace tessera {
namespace {

/// Random small sets of keys: mostly the arithmetic of tilings, now and then anything at all.
struct RandomKeySets {
  int greatest_arity, greatest_extent, greatest_constant;
  std::mt19937 random;

  KeySet next() {
    const int arity = below(greatest_arity + 1);
    Key extents;
    for (int i = 0; i < arity; ++i)
      extents.push_back(below(20) == 0 ? 0 : 1 + below(greatest_extent));
    KeySet keys{.extents = extents, .where = predicate(arity)};
    std::vector<KeyExpr> components;
    for (int i = below(4); i > 0; --i) components.push_back(expression(arity, 1 + below(3)));
    const bool identity = below(5) == 0;
    keys.map = identity ? KeySet::box(extents).map : KeyFunction(components);
    return keys;
  }

  int below(int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); }

  KeyExpr expression(int arity, int depth) {
    if (depth == 0 || below(6) == 0)
      return arity == 0 || below(5) == 0 ? KeyExpr(below(greatest_constant + 2) - 1)
                                         : key(below(arity));
    const KeyExpr left = expression(arity, depth - 1);
    const KeyExpr right =
        below(3) == 0 ? expression(arity, depth - 1) : KeyExpr(1 + below(greatest_constant));
    switch (below(7)) {
      case 0: return left + right;
      case 1: return left - right;
      case 2: return right - left;
      case 3: return left + expression(arity, depth - 1);
      case 4: return left * right;
      case 5: return left / right;
      default: return left % right;
    }
  }

  KeyPredicate predicate(int arity) {
    switch (below(8)) {
      case 0: return relation(arity) && relation(arity);
      case 1: return relation(arity) || relation(arity);
      case 2: return !relation(arity);
      case 3:
      case 4: return relation(arity);
      default: return KeyPredicate::always();
    }
  }

  KeyPredicate relation(int arity) {
    const KeyExpr left = expression(arity, 1), right = expression(arity, below(2));
    switch (below(6)) {
      case 0: return left == right;
      case 1: return left != right;
      case 2: return left < right;
      case 3: return left <= right;
      case 4: return left > right;
      default: return left >= right;
    }
  }
};

std::string described(const KeySet& keys) {
  return keys.map.to_string() + " where " + keys.where.to_string() + " below " +
         to_string(keys.extents);
}

Answer answer(bool holds) { return holds ? Answer::yes : Answer::no; }

TEST(ClosednessRandom, EnumerationAgreesWithTheDefinitions) {
  RandomKeySets random{3, 7, 6, std::mt19937(11)};
  for (int trial = 0; trial < 20'000; ++trial) {
    const KeySet keys = random.next();
    SCOPED_TRACE(described(keys));
    const NaiveClosedness expected = naive_closedness(keys);
    const Closedness actual = decide_closedness(keys);
    if (!expected.defined) {
      ASSERT_EQ(actual.non_negative.answer, Answer::no);
      ASSERT_NE(actual.non_negative.reason.find("divides by zero"), std::string::npos);
      ASSERT_EQ(actual.unique.answer, Answer::unknown);
      ASSERT_EQ(actual.continuous.answer, Answer::unknown);
      ASSERT_FALSE(actual.frontier_known);
      continue;
    }
    ASSERT_EQ(actual.non_negative.answer, answer(expected.non_negative));
    ASSERT_EQ(actual.unique.answer, answer(expected.unique));
    ASSERT_EQ(actual.continuous.answer, answer(expected.continuous));
    ASSERT_EQ(actual.non_negative.key, expected.first_negative);
    ASSERT_EQ(actual.unique.key, expected.first_repeated);
    ASSERT_EQ(actual.continuous.key, expected.first_missing);
    ASSERT_TRUE(actual.frontier_known);
    ASSERT_EQ(actual.frontier, expected.frontier);
    ASSERT_EQ(actual.cardinality, static_cast<std::int64_t>(expected.points.size()));
  }
}

/// A verdict of the solver is that of the definitions, and its witness is one; or it is unknown.
void expect_no_contradiction(const Closedness& actual, const NaiveClosedness& expected) {
  const auto agrees = [](Answer claimed, bool holds) {
    return claimed == Answer::unknown || claimed == answer(holds);
  };
  if (!expected.defined) {
    ASSERT_NE(actual.non_negative.answer, Answer::yes);
    ASSERT_EQ(actual.unique.answer, Answer::unknown);
    ASSERT_EQ(actual.continuous.answer, Answer::unknown);
    return;
  }
  ASSERT_TRUE(agrees(actual.non_negative.answer, expected.non_negative));
  ASSERT_TRUE(agrees(actual.unique.answer, expected.unique)) << actual.unique.reason;
  ASSERT_TRUE(agrees(actual.continuous.answer, expected.continuous)) << actual.continuous.reason;
  if (actual.frontier_known) {
    ASSERT_EQ(actual.frontier, expected.frontier);
  }
  if (actual.cardinality >= 0) {
    ASSERT_EQ(actual.cardinality, static_cast<std::int64_t>(expected.points.size()));
  }
  if (actual.non_negative.answer == Answer::no) {
    ASSERT_TRUE(expected.points.contains(actual.non_negative.key));
  }
  if (actual.unique.answer == Answer::no) {
    ASSERT_GE(expected.points.at(actual.unique.key), 2);
  }
  if (actual.continuous.answer == Answer::no && !actual.continuous.key.empty()) {
    ASSERT_FALSE(expected.points.contains(actual.continuous.key));
    for (std::size_t i = 0; i < expected.frontier.size(); ++i) {
      ASSERT_GE(actual.continuous.key[i], 0);
      ASSERT_LT(actual.continuous.key[i], expected.frontier[i]);
    }
  }
}

void expect_no_contradictions(RandomKeySets random, int trials) {
  int undecided = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const KeySet keys = random.next();
    SCOPED_TRACE(described(keys));
    const NaiveClosedness expected = naive_closedness(keys);
    const Closedness actual = decide_closedness(keys, {.enumerate_up_to = 0});
    ASSERT_NE(actual.method, "enumeration");
    ASSERT_NO_FATAL_FAILURE(expect_no_contradiction(actual, expected));
    const bool open = actual.non_negative.answer == Answer::unknown ||
                      actual.unique.answer == Answer::unknown ||
                      actual.continuous.answer == Answer::unknown;
    if (expected.defined && open) ++undecided;
  }
  testing::Test::RecordProperty("undecided", undecided);
  std::printf("the solver left %d of %d sets undecided\n", undecided, trials);
}

TEST(ClosednessRandom, TheSolverNeverContradictsTheDefinitions) {
  expect_no_contradictions({3, 7, 6, std::mt19937(12)}, 2'000);
}

TEST(ClosednessRandom, NorOnSetsLargerThanTheSampleItTakes) {
  expect_no_contradictions({2, 120, 30, std::mt19937(13)}, 1'000);
}

}  // namespace
}  // namespace tessera
