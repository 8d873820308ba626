#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <unordered_set>

#include "support/expectations.h"
#include "support/special_values.h"
#include "tessera/key.h"

namespace tessera {
namespace {

/// Random expressions and predicates of every form, with constants that are hard to print.
class RandomTrees {
 public:
  explicit RandomTrees(unsigned seed) : random_(seed) {}

  KeyExpr expression(int depth) {
    switch (depth == 0 ? below(2) : below(8)) {
      case 0: return constants_[below(constants_.size())];
      case 1: return key(below(16));
      case 2: return expression(depth - 1) + expression(depth - 1);
      case 3: return expression(depth - 1) - expression(depth - 1);
      case 4: return expression(depth - 1) * expression(depth - 1);
      case 5: return expression(depth - 1) / expression(depth - 1);
      case 6: return expression(depth - 1) % expression(depth - 1);
      default: return KeyExpr(0) - expression(depth - 1);
    }
  }

  KeyPredicate predicate(int depth) {
    switch (depth == 0 ? below(7) : below(10)) {
      case 0: return expression(depth) == expression(depth);
      case 1: return expression(depth) != expression(depth);
      case 2: return expression(depth) < expression(depth);
      case 3: return expression(depth) <= expression(depth);
      case 4: return expression(depth) > expression(depth);
      case 5: return expression(depth) >= expression(depth);
      case 6: return below(2) == 0 ? KeyPredicate::always() : KeyPredicate("false");
      case 7: return predicate(depth - 1) && predicate(depth - 1);
      case 8: return predicate(depth - 1) || predicate(depth - 1);
      default: return !predicate(depth - 1);
    }
  }

  int below(std::size_t limit) { return static_cast<int>(random_() % limit); }

 private:
  std::mt19937 random_;
  std::vector<std::int64_t> constants_ = {0, 1, 2, 3, 10, -1, -2, -7, greatest, least};
};

TEST(KeyExpression, WhatIsPrintedReadsBackAsTheSameTree) {
  RandomTrees random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    const KeyExpr expr = random.expression(trial % 7);
    const std::string text = expr.to_string();
    ASSERT_TRUE(equal(KeyExpr::parse(text), expr)) << text;
    ASSERT_EQ(KeyExpr::parse(text).to_string(), text);
    const KeyPredicate predicate = random.predicate(trial % 5);
    const std::string condition = predicate.to_string();
    ASSERT_TRUE(equal(KeyPredicate::parse(condition), predicate)) << condition;
    const KeyFunction function({expr, random.expression(2)});
    const KeyFunction again(function.to_string());
    ASSERT_TRUE(equal(again.components()[0], expr)) << function.to_string();
    ASSERT_TRUE(equal(again.components()[1], function.components()[1]));
  }
}

TEST(KeyExpression, PrintsNoMoreParenthesesThanNeeded) {
  const auto printed = [](const char* text) { return KeyExpr::parse(text).to_string(); };
  EXPECT_EQ(printed("2*k0+k1 mod 3"), "2*k0 + k1 mod 3");
  EXPECT_EQ(printed("((2 * (k0)) + (k1 % 3))"), "2*k0 + k1 mod 3");
  EXPECT_EQ(printed("2*(k0+k1)"), "2*(k0 + k1)");
  EXPECT_EQ(printed("k0-(k1-k2)"), "k0 - (k1 - k2)");
  EXPECT_EQ(printed("(k0-k1)-k2"), "k0 - k1 - k2");
  EXPECT_EQ(printed("k0 / (k1*k2)"), "k0 div (k1*k2)");
  EXPECT_EQ(printed("k0*k1/k2"), "k0*k1 div k2");
  EXPECT_EQ(printed("-k0 * -3"), "-k0*-3");
  EXPECT_EQ(printed("-(-k0)"), "-(-k0)");
  EXPECT_EQ(printed("-(3)"), "-(3)");
  EXPECT_EQ(printed("- 3"), "-3");
  EXPECT_EQ(printed("-(k0 + 1)"), "-(k0 + 1)");
  const auto condition = [](const char* text) { return KeyPredicate::parse(text).to_string(); };
  EXPECT_EQ(condition("(k0 == k1) && !(k2 < 3)"), "k0 = k1 and not k2 < 3");
  EXPECT_EQ(condition("not (k0 = 1 or k1 <> 2)"), "not (k0 = 1 or k1 != 2)");
  EXPECT_EQ(condition("k0=1 or k1=2 and k2=3"), "k0 = 1 or k1 = 2 and k2 = 3");
  EXPECT_EQ(condition("(k0=1 or k1=2) and k2>=3"), "(k0 = 1 or k1 = 2) and k2 >= 3");
  EXPECT_EQ(condition("((k0 + 1) * 2 > k1) or true"), "(k0 + 1)*2 > k1 or true");
  EXPECT_EQ(KeyFunction("<i, j> -> <2*i + j, j>").to_string(), "<2*k0 + k1, k1>");
  EXPECT_EQ(KeyFunction("<>").to_string(), "<>");
  EXPECT_EQ(KeyFunction("< > -> <7>").to_string(), "<7>");
}

TEST(KeyExpression, EvaluatesAsPythonDoes) {
  const auto value = [](const char* text, Key key) { return KeyExpr::parse(text).evaluate(key); };
  EXPECT_EQ(value("2*k0 + k1 mod 3", {5, 7}), 11);
  EXPECT_EQ(value("k0 div 3", {-7}), -3);
  EXPECT_EQ(value("k0 mod 3", {-7}), 2);
  EXPECT_EQ(value("k0 div -3", {7}), -3);
  EXPECT_EQ(value("k0 mod -3", {7}), -2);
  EXPECT_EQ(value("k0 div -3", {-7}), 2);
  EXPECT_EQ(value("k0 mod -3", {-7}), -1);
  EXPECT_EQ(value("k0 mod -1", {least}), 0);
  EXPECT_EQ(value("-k0 mod 4", {1}), 3);
  EXPECT_EQ(value("10 - 4 - 3", {}), 3);
  EXPECT_EQ(value("-9223372036854775808", {}), least);
  for (std::int64_t a = -9; a <= 9; ++a) {
    for (std::int64_t b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      const std::int64_t quotient = value("k0 div k1", {a, b}), rest = value("k0 mod k1", {a, b});
      EXPECT_EQ(quotient * b + rest, a);
      EXPECT_TRUE(b > 0 ? rest >= 0 && rest < b : rest <= 0 && rest > b);
    }
  }
}

TEST(KeyExpression, ConditionsStopAsSoonAsTheyAreDecided) {
  EXPECT_FALSE(KeyPredicate("k1 != 0 and k0 div k1 = 2").evaluate({4, 0}));
  EXPECT_TRUE(KeyPredicate("k1 = 0 or k0 div k1 = 2").evaluate({4, 0}));
  EXPECT_TRUE(KeyPredicate("k1 != 0 and k0 div k1 = 2").evaluate({5, 2}));
  EXPECT_TRUE(KeyPredicate("not k0 < 3 and true").evaluate({3}));
  EXPECT_TRUE(KeyPredicate("k0 <> k1 and k0 >= 1 and k1 <= 0").evaluate({1, 0}));
}

TEST(KeyExpression, ErrorsNameTheExpressionAndTheKey) {
  EXPECT_ERROR(ValueError, KeyExpr::parse("1 + k0 div k1").evaluate({1, 0}),
               "1 + k0 div k1 at key <1, 0>: k0 div k1 divides by zero");
  EXPECT_ERROR(ValueError, KeyExpr::parse("k0 mod (k0 - 3)").evaluate({3}), "divides by zero");
  EXPECT_ERROR(ValueError, KeyExpr::parse("k0*k0").evaluate({1ll << 40}),
               "k0*k0 at key <1099511627776>: k0*k0 overflows 64 bits");
  EXPECT_ERROR(ValueError, KeyExpr::parse("k0 + 1").evaluate({greatest}), "overflows");
  EXPECT_ERROR(ValueError, KeyExpr::parse("-k0").evaluate({least}), "overflows");
  EXPECT_ERROR(ValueError, KeyExpr::parse("k0 div -1").evaluate({least}), "overflows");
  EXPECT_ERROR(TypeError, KeyExpr::parse("k0 + k2").evaluate({1, 2}),
               "k0 + k2 at key <1, 2>: key component k2 does not exist: the key has 2 components");
  EXPECT_ERROR(TypeError, key(16), "k0 to k15");
  EXPECT_ERROR(TypeError, key(-1), "k0 to k15");
}

void expect_parse_error(const std::function<void()>& parse, int line, int column,
                        const std::string& message) {
  try {
    parse();
    ADD_FAILURE() << "no error, expected: " << message;
  } catch (const ParseError& error) {
    EXPECT_EQ(error.line, line) << error.what();
    EXPECT_EQ(error.column, column) << error.what();
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(KeyExpression, ParseErrorsSayWhereAndWhatWasExpected) {
  const auto expression = [](const char* text, int line, int column, const char* message) {
    expect_parse_error([&] { KeyExpr::parse(text); }, line, column, message);
  };
  expression("", 1, 1, "expected a number, a key component or '(', but the text ends here");
  expression("k0 +", 1, 5, "but the text ends here at line 1, column 5 of 'k0 +'");
  expression("k0 + * k1", 1, 6, "expected a number, a key component or '(', not '*'");
  expression("(k0 + k1", 1, 9, "expected ')'");
  expression("k0 k1", 1, 4, "expected an operator or the end, not 'k1'");
  expression("k0 +\n  k16", 2, 3, "expected a key component (k0 to k15), not 'k16'");
  expression("row + 1", 1, 1, "expected a key component (k0 to k15), not 'row'");
  expression("9223372036854775808", 1, 1, "too large");
  expression("12x", 1, 1, "expected an integer, not '12x'");
  expression("k0 = k1", 1, 4, "expected an operator or the end");
  expression("(k0 = k1) + 1", 1, 1, "expected a number, not a condition");
  expression("k0 ? 1", 1, 4, "not '?'");
  const auto predicate = [](const char* text, int column, const char* message) {
    expect_parse_error([&] { KeyPredicate::parse(text); }, 1, column, message);
  };
  predicate("k0 + 1", 1, "expected a condition such as k0 = k1, not a number");
  predicate("k0 = 1 and k1", 12, "expected a condition");
  predicate("not k0", 5, "expected a condition");
  predicate("0 <= k0 < 3", 9, "expected 'and' before another comparison");
  predicate("k0 = ", 6, "the text ends here");
  predicate("k0 = true", 6, "expected a number");
  const auto function = [](const char* text, int column, const char* message) {
    expect_parse_error([&] { KeyFunction::parse(text); }, 1, column, message);
  };
  function("k0", 1, "expected '<'");
  function("<k0", 4, "expected an operator, ',' or '>'");
  function("<k0> k1", 6, "expected the end");
  function("<i, i> -> <i>", 5, "expected a new name: 'i' is already declared");
  function("<i, j> -> <k0>", 12, "expected a key component (i, j), not 'k0'");
  function("<i, mod> -> <i>", 5, "expected a name for a key component, not 'mod'");
  function("<i, 3> -> <i>", 5, "expected a name");
  function("<0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0>", 34, "at most 16 components");
  function("<k0 < k1>", 5, "expected an operator");
}

TEST(KeyExpression, DepthIsBoundedAndItsCostLinear) {
  KeyExpr sum = key(0);
  for (int i = 0; i < 1'900; ++i) sum = sum + 1;
  EXPECT_EQ(sum.evaluate({5}), 1'905);
  EXPECT_EQ(sum.arity(), 1);
  EXPECT_TRUE(equal(KeyExpr::parse(sum.to_string()), sum));
  EXPECT_EQ(sum.substitute({key(1) * 2}).evaluate({0, 5}), 1'910);
  KeyExpr nested = key(0);
  for (int i = 0; i < 240; ++i) nested = KeyExpr(1) - nested;
  EXPECT_TRUE(equal(KeyExpr::parse(nested.to_string()), nested));
  const auto too_deep = [&] {
    for (int i = 0; i < 2'000; ++i) sum = sum + 1;
  };
  EXPECT_ERROR(TypeError, too_deep(), "nested more than");
  EXPECT_ERROR(ParseError, KeyExpr::parse(std::string(100'000, '(')), "nested parentheses");
  EXPECT_ERROR(ParseError, KeyExpr::parse(std::string(100'000, '-')), "nested parentheses");
}

TEST(KeyExpression, ComposedFunctionsShareTheirParts) {
  // As a tree, the function composed 200 times over has 2^200 leaves.
  const KeyFunction step = "<k0 div 2 + k0 mod 2>";
  KeyFunction all = "<k0>";
  for (int i = 0; i < 200; ++i) all = step.compose(all);
  EXPECT_EQ(all.input_arity(), 1);
  EXPECT_EQ(all.evaluate({1 << 20}), Key({1}));
  EXPECT_ERROR(TypeError, all.evaluate({}), "a long expression at key <>");
  EXPECT_TRUE(equal(all.components()[0], all.components()[0].substitute({key(0)})));
}

TEST(KeyExpression, SubstitutionIsComposition) {
  RandomTrees random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<KeyExpr> inner(16, random.expression(1));
    const KeyExpr outer = random.expression(3);
    const KeyPredicate condition = random.predicate(2);
    Key key;
    for (int i = 0; i < 16; ++i) key.push_back(random.below(20));
    try {
      const Key image = KeyFunction(inner).evaluate(key);
      EXPECT_EQ(outer.substitute(inner).evaluate(key), outer.evaluate(image));
      EXPECT_EQ(condition.substitute(inner).evaluate(key), condition.evaluate(image));
    } catch (const ValueError&) {
      continue;  // without a value there is nothing to compare
    }
  }
  EXPECT_ERROR(TypeError, key(2).substitute({key(0)}), "k2 is used");
}

TEST(KeyExpression, OpaqueFunctionsAreCalledAndComposed) {
  const KeyExpr square = KeyExpr::opaque("square", [](const Key& key) { return key[0] * key[0]; });
  EXPECT_TRUE((square + 1).is_opaque());
  EXPECT_FALSE(key(3).is_opaque());
  EXPECT_EQ((square + 1).evaluate({7}), 50);
  EXPECT_EQ((square + 1).to_string(), "square(key) + 1");
  const KeyExpr shifted = square.substitute({key(1) + 2});
  EXPECT_EQ(shifted.evaluate({0, 5}), 49);
  EXPECT_EQ(shifted.to_string(), "square(k1 + 2)");
  EXPECT_EQ(shifted.arity(), 2);
  EXPECT_EQ(shifted.substitute({key(0), key(0)}).to_string(), "square(k0 + 2)");
  EXPECT_TRUE(equal(shifted, square.substitute({key(1) + 2})));
  EXPECT_FALSE(equal(shifted, square));
  const KeyPredicate even =
      KeyPredicate::opaque("even", [](const Key& key) { return key[0] % 2 == 0; });
  EXPECT_TRUE((even && KeyPredicate("k0 < 3")).is_opaque());
  EXPECT_TRUE(even.substitute({key(1)}).evaluate({1, 2}));
  const KeyFunction swap = KeyFunction::opaque("swap", 2, [](const Key& key) {
    return Key{key[1], key[0]};
  });
  EXPECT_EQ(swap.evaluate({1, 2}), Key({2, 1}));
  EXPECT_EQ(swap.compose("<k1, k0>").evaluate({1, 2}), Key({1, 2}));
  EXPECT_EQ(swap.to_string(), "<swap[0](key), swap[1](key)>");
  const KeyFunction wrong = KeyFunction::opaque("wrong", 2, [](const Key&) { return Key{1}; });
  EXPECT_ERROR(TypeError, wrong.evaluate({0}), "wrong at key <0>: the result <1> has 1 components");
}

TEST(KeyExpression, FunctionsAndKeysKnowTheirShape) {
  const KeyFunction tile = "<i, j, k> -> <2*i + k, j>";
  EXPECT_EQ(tile.input_arity(), 3);
  EXPECT_EQ(tile.output_arity(), 2);
  EXPECT_EQ(tile.evaluate({3, 1, 1}), Key({7, 1}));
  EXPECT_EQ(KeyFunction("<k1>").compose(tile).to_string(), "<k1>");
  EXPECT_EQ(KeyPredicate("k0 = 1 or k3 < 2").arity(), 4);
  EXPECT_EQ(KeyPredicate::always().arity(), 0);
  EXPECT_EQ(to_string(Key{}), "<>");
  EXPECT_EQ(to_string(Key{-1, 22}), "<-1, 22>");
  std::unordered_set<std::size_t> hashes;
  for (std::int64_t i = 0; i < 100; ++i)
    for (std::int64_t j = 0; j < 100; ++j) hashes.insert(KeyHash()({i, j}) % (1 << 20));
  EXPECT_GT(hashes.size(), 9'800u);
}

}  // namespace
}  // namespace tessera
