#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "support/expectations.h"
#include "support/naive_closedness.h"
#include "tessera/key.h"

namespace tessera {
namespace {

constexpr Answer yes = Answer::yes, no = Answer::no, unknown = Answer::unknown;

/// The sets are families in n: small enough to look at each key for one n, and far too large for
/// it for another, with the same verdicts. In the texts, n and m = n*n stand for their values.
constexpr std::int64_t small = 12, large = 12'000;

enum class Effort { decided, may_be_unknown };  // of the large one

struct Row {
  const char* name;
  const char* extents;
  const char* where;
  const char* map;
  Answer unique, continuous;
  const char* frontier;  // empty: not known
  Answer non_negative = yes;
  Effort effort = Effort::decided;
};

const Row table[] = {
    {"row-major", "<n, n>", "", "<n*k0 + k1>", yes, yes, "<m>"},
    {"column-major", "<n, n>", "", "<k0 + n*k1>", yes, yes, "<m>"},
    {"rows too close", "<n, n>", "", "<(n - 1)*k0 + k1>", no, yes, "<m - n + 1>"},
    {"rows too far apart", "<n, n>", "", "<(n + 1)*k0 + k1>", yes, no, "<m + n - 1>"},
    {"four digits", "<n, 3, 4, n>", "", "<12*n*k0 + n*k2 + 4*n*k1 + k3>", yes, yes, "<12*m>"},
    {"transposed", "<n, n>", "", "<k1, k0>", yes, yes, "<n, n>"},
    {"rotated axes", "<n, n, 2>", "", "<k2, k0, k1>", yes, yes, "<2, n, n>"},
    {"tiled", "<m>", "", "<k0 div n, k0 mod n>", yes, yes, "<n, n>"},
    {"tiled, the last tile short", "<m + 1>", "", "<k0 div n, k0 mod n>", yes, no, "<n + 1, n>"},
    {"tiled twice", "<m>", "", "<k0 div n, k0 mod n div 3, k0 mod 3>", yes, yes, "<n, n div 3, 3>"},
    {"tiled within tiles", "<m>", "", "<k0 div 12, k0 div 3 mod 4, k0 mod 3>", yes, yes,
     "<m div 12, 4, 3>"},
    {"tiled and untiled", "<m>", "", "<(k0 div n)*n + k0 mod n>", yes, yes, "<m>"},
    {"untiled", "<m, 4>", "", "<4*k0 + k1>", yes, yes, "<4*m>"},
    {"untiled and retiled", "<n, n>", "", "<(n*k0 + k1) div 4, (n*k0 + k1) mod 4>", yes, yes,
     "<m div 4, 4>"},
    {"tiles that overlap", "<m, 4>", "", "<3*k0 + k1>", no, yes, "<3*m + 1>"},
    {"tiles with gaps", "<m, 4>", "", "<5*k0 + k1>", yes, no, "<5*m - 1>"},
    {"dealt out", "<m>", "", "<k0 mod 4, k0 div 4>", yes, yes, "<4, m div 4>"},
    {"dealt out in a row", "<m>", "", "<(k0 mod 4)*(m div 4) + k0 div 4>", yes, yes, "<m>"},
    {"dealt out by blocks", "<m>", "", "<k0 div 3 mod 4, k0 div 12, k0 mod 3>", yes, yes,
     "<4, m div 12, 3>"},
    {"rotated within blocks", "<m>", "", "<(k0 div 6)*6 + (k0 + 2) mod 6>", yes, yes, "<m>"},
    {"stride", "<m>", "", "<2*k0>", yes, no, "<2*m - 1>"},
    {"shifted up", "<m>", "", "<k0 + 1>", yes, no, "<m + 1>"},
    {"shifted down", "<m>", "", "<k0 - 1>", yes, yes, "<m - 1>", no},
    {"reversed", "<m>", "", "<m - 1 - k0>", yes, yes, "<m>"},
    {"reversed too far", "<m>", "", "<m - 2 - k0>", yes, yes, "<m - 1>", no},
    {"one axis reversed", "<n, n>", "", "<k0, n - 1 - k1>", yes, yes, "<n, n>"},
    {"rotated", "<m>", "", "<(k0 + 5) mod m>", yes, yes, "<m>"},
    {"multiplied, coprime", "<m>", "", "<7*k0 mod m>", yes, yes, "<m>"},
    {"multiplied, not coprime", "<m>", "", "<2*k0 mod m>", no, no, "<m - 1>"},
    {"quotient", "<m>", "", "<k0 div 4>", no, yes, "<m div 4>"},
    {"remainder", "<m>", "", "<k0 mod 4>", no, yes, "<4>"},
    {"late remainder", "<m>", "", "<k0 mod (m div 2)>", no, yes, "<m div 2>"},
    {"negative divisor", "<m>", "", "<-(k0 div -4)>", no, yes, "<m div 4 + 1>"},
    {"projection", "<n, n>", "", "<k0>", no, yes, "<n>"},
    {"onto the diagonal", "<m>", "", "<k0, k0>", yes, no, "<m, m>"},
    {"antidiagonals", "<n, n>", "", "<k0 + k1>", no, yes, "<2*n - 1>"},
    {"diagonals", "<n, n>", "", "<k0 - k1>", no, yes, "<n>", no},
    {"diagonals, moved up", "<n, n>", "", "<k0 - k1 + n - 1>", no, yes, "<2*n - 1>"},
    {"skewed", "<n, n>", "", "<k0 + k1, k1>", yes, no, "<2*n - 1, n>"},
    {"to the empty key", "<n, n>", "", "<>", no, yes, "<>"},
    {"constant", "<m>", "", "<7>", no, no, "<8>"},
    {"kept whole", "<n, n>", "k0 >= 0 and k1 < n", "<k0, k1>", yes, yes, "<n, n>"},
    {"lower triangle", "<n, n>", "k1 <= k0", "<k0, k1>", yes, no, "<n, n>"},
    {"strict upper triangle", "<n, n>", "not k0 >= k1", "<k0, k1>", yes, no, "<n - 1, n>"},
    {"rows of a triangle", "<n, n>", "k1 <= k0", "<k0>", no, yes, "<n>"},
    {"diagonal", "<n, n>", "k0 = k1", "<k0, k1>", yes, no, "<n, n>"},
    {"diagonal as a vector", "<n, n>", "k0 = k1", "<k0>", yes, yes, "<n>"},
    {"diagonal of a cube", "<n, n, n>", "k0 = k1 and k1 = k2", "<k2>", yes, yes, "<n>"},
    {"antidiagonal as a vector", "<n, n>", "k0 + k1 = n - 1", "<k1>", yes, yes, "<n>"},
    {"band", "<n, n>", "k0 - k1 <= 1 and k1 - k0 <= 1", "<k0, k1 - k0 + 1>", yes, no, "<n, 3>"},
    {"first rows", "<n, n>", "k0 < 3", "<k0, k1>", yes, yes, "<3, n>"},
    {"last rows", "<n, n>", "k0 >= 3", "<k0, k1>", yes, no, "<n, n>"},
    {"last rows, moved up", "<n, n>", "k0 >= 3", "<k0 - 3, k1>", yes, yes, "<n - 3, n>"},
    {"even rows", "<n, n>", "k0 mod 2 = 0", "<k0, k1>", yes, no, "<n - 1, n>"},
    {"even rows, closed up", "<n, n>", "k0 mod 2 = 0", "<k0 div 2, k1>", yes, yes, "<n div 2, n>"},
    {"odd rows, closed up", "<n, n>", "k0 mod 2 = 1", "<k0 div 2, k1>", yes, yes, "<n div 2, n>"},
    {"one hole", "<n, n>", "k0 != 2 or k1 != 3", "<k0, k1>", yes, no, "<n, n>"},
    {"a corner", "<n, n>", "k0 + k1 < 5", "<k0, k1>", yes, no, "<5, 5>"},
    {"rows of a corner", "<n, n>", "k0 + k1 < 5", "<k0>", no, yes, "<5>"},
    {"one point", "<n, n>", "k0 = 3 and k1 = 4", "<>", yes, yes, "<>"},
    {"nothing", "<n, n>", "k0 < 0", "<k0, k1>", yes, yes, "<0, 0>"},
    {"nothing, less obviously", "<n, n>", "2*k0 = 2*k1 + 1", "<k0>", yes, yes, "<0>"},
    {"division by zero", "<n, n>", "", "<k0 div k1>", unknown, unknown, "", no},
    {"guarded division", "<n, n>", "k1 != 0 and k0 div k1 = 1", "<k0, k1>", yes, no, "<n, n>", yes,
     Effort::may_be_unknown},
    {"products", "<n, n>", "", "<k0*k1>", no, no, "<m - 2*n + 2>", yes, Effort::may_be_unknown},
    {"squares", "<m>", "", "<k0*k0>", yes, no, "<m*m - 2*m + 2>", yes, Effort::may_be_unknown},
    {"packed triangle", "<n, n>", "k1 <= k0", "<k0*(k0 + 1) div 2 + k1>", yes, yes,
     "<(m + n) div 2>", yes, Effort::may_be_unknown},
};

std::string with_sizes(std::string text, std::int64_t n) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool alone = (i == 0 || !std::isalnum(text[i - 1])) &&
                       (i + 1 == text.size() || !std::isalnum(text[i + 1]));
    if (alone && (text[i] == 'n' || text[i] == 'm'))
      text.replace(i, 1, std::to_string(text[i] == 'n' ? n : n * n));
  }
  return text;
}

Key key_with_sizes(const char* text, std::int64_t n) {
  return KeyFunction(with_sizes(text, n)).evaluate({});
}

KeySet set_of(const Row& row, std::int64_t n) {
  const KeySet box = KeySet::box(key_with_sizes(row.extents, n));
  const KeySet kept = *row.where == '\0' ? box : box.filter(with_sizes(row.where, n));
  return kept.rekey(with_sizes(row.map, n));
}

void expect_verdicts(const Row& row, const Closedness& actual, std::int64_t n,
                     bool may_be_unknown) {
  const auto agrees = [&](const Verdict& verdict, Answer expected) {
    return verdict.answer == expected || (may_be_unknown && verdict.answer == unknown);
  };
  EXPECT_TRUE(agrees(actual.unique, row.unique)) << actual.unique.reason;
  EXPECT_TRUE(agrees(actual.continuous, row.continuous)) << actual.continuous.reason;
  EXPECT_TRUE(agrees(actual.non_negative, row.non_negative)) << actual.non_negative.reason;
  EXPECT_EQ(actual.unique.answer == yes, actual.unique.reason.empty());
  EXPECT_EQ(actual.continuous.answer == yes, actual.continuous.reason.empty());
  EXPECT_EQ(actual.non_negative.answer == yes, actual.non_negative.reason.empty());
  if (*row.frontier == '\0') {
    EXPECT_FALSE(actual.frontier_known);
  } else if (actual.frontier_known || !may_be_unknown) {
    EXPECT_TRUE(actual.frontier_known);
    EXPECT_EQ(actual.frontier, key_with_sizes(row.frontier, n));
  }
}

TEST(Closedness, VerdictsBySmallEnumeration) {
  for (const Row& row : table) {
    SCOPED_TRACE(row.name);
    const KeySet keys = set_of(row, small);
    expect_verdicts(row, decide_closedness(keys), small, false);
    const NaiveClosedness naive = naive_closedness(keys);
    if (!naive.defined) continue;
    EXPECT_EQ(naive.unique ? yes : no, row.unique);
    EXPECT_EQ(naive.continuous ? yes : no, row.continuous);
    EXPECT_EQ(naive.frontier, key_with_sizes(row.frontier, small));
  }
}

/// Time is no object here, so that a busy machine does not change a verdict.
ClosednessOptions patient(const Row& row, std::int64_t enumerate_up_to) {
  const bool hard = row.effort == Effort::may_be_unknown;
  return {.enumerate_up_to = enumerate_up_to, .solver_milliseconds = hard ? 40 : 20'000};
}

TEST(Closedness, VerdictsByReasoningAboutSmallSets) {
  for (const Row& row : table) {
    SCOPED_TRACE(row.name);
    const Closedness actual = decide_closedness(set_of(row, small), patient(row, 0));
    EXPECT_NE(actual.method, "enumeration");
    expect_verdicts(row, actual, small, row.effort == Effort::may_be_unknown);
  }
}

TEST(Closedness, VerdictsByReasoningAboutLargeSets) {
  for (const Row& row : table) {
    SCOPED_TRACE(row.name);
    const Closedness actual = decide_closedness(set_of(row, large), patient(row, 1'000'000));
    EXPECT_NE(actual.method, "enumeration");
    expect_verdicts(row, actual, large, row.effort == Effort::may_be_unknown);
  }
}

TEST(Closedness, TimesOfAllDecisions) {
  double longest = 0;
  int undecided = 0;
  for (const Row& row : table) {
    for (const std::int64_t n : {small, std::int64_t{1'000}, large}) {
      const KeySet keys = set_of(row, n);
      const auto start = std::chrono::steady_clock::now();
      const Closedness result = decide_closedness(keys);
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      longest = std::max(longest, time.count());
      const bool open = result.continuous.answer == unknown || result.unique.answer == unknown;
      undecided += open ? 1 : 0;
      fmt::print("{:8.3f} ms  {:<11}  n = {:<5}  {}{}\n", time.count(), result.method, n, row.name,
                 open ? " (unknown)" : "");
    }
  }
  fmt::print("{:8.3f} ms at most; {} unknown\n", longest, undecided);
  RecordProperty("longest_milliseconds", fmt::format("{:.3f}", longest));
  RecordProperty("unknown", undecided);
}

TEST(Closedness, ReasonsNameTheFirstOffender) {
  const auto small_set = [](const char* where, const char* map) {
    return decide_closedness(KeySet::box({2, 2}).filter(where).rekey(map));
  };
  EXPECT_EQ(small_set("true", "<k0 + k1>").unique.reason, "keys <0, 1> and <1, 0> both map to <1>");
  EXPECT_EQ(small_set("true", "<k0 + k1>").unique.key, Key({1}));
  EXPECT_EQ(small_set("k0 <= k1", "<k0, k1>").continuous.reason,
            "key <1, 0> below the frontier <2, 2> is missing");
  EXPECT_EQ(small_set("k0 <= k1", "<k0, k1>").continuous.key, Key({1, 0}));
  EXPECT_EQ(small_set("true", "<2*k0 + k1 - 1>").non_negative.reason,
            "key <0, 0> maps to <-1>, which is negative");
  EXPECT_EQ(small_set("true", "<2*k0 + k1 - 1>").non_negative.key, Key({-1}));
  const Closedness failing = small_set("true", "<5 div (k0 - k1)>");
  EXPECT_EQ(failing.non_negative.answer, no);
  EXPECT_EQ(failing.non_negative.key, Key({0, 0}));
  EXPECT_EQ(
      failing.non_negative.reason,
      "key <0, 0> has no value: 5 div (k0 - k1) at key <0, 0>: 5 div (k0 - k1) divides by zero");
  EXPECT_EQ(failing.unique.answer, unknown);
  EXPECT_EQ(failing.continuous.answer, unknown);
  EXPECT_EQ(failing.cardinality, -1);
}

TEST(Closedness, EmptySetsAreClosed) {
  for (const KeySet& keys :
       {KeySet::box({0, 5}), KeySet::box({3, 0}).rekey("<k0 - 7, 2*k1>"),
        KeySet::box({3, 3}).filter("false"), KeySet::box({3, 3}).filter("k0 > 5"),
        KeySet::box({1 << 20, 1 << 20}).filter("k0 + k1 < 0"),
        KeySet::box({0, 1}).rekey(
            KeyFunction::opaque("f", 2, [](const Key& key) { return key; }))}) {
    const Closedness result = decide_closedness(keys);
    EXPECT_EQ(result.non_negative.answer, yes);
    EXPECT_EQ(result.unique.answer, yes);
    EXPECT_EQ(result.continuous.answer, yes);
    EXPECT_TRUE(result.frontier_known);
    EXPECT_EQ(result.frontier, Key({0, 0}));
    EXPECT_EQ(result.cardinality, 0);
  }
}

TEST(Closedness, PlainBoxesAreDecidedByLooking) {
  const Closedness huge = decide_closedness(KeySet::box({1ll << 40, 1ll << 40}));
  EXPECT_EQ(huge.method, "box");
  EXPECT_EQ(huge.continuous.answer, yes);
  EXPECT_EQ(huge.frontier, Key({1ll << 40, 1ll << 40}));
  EXPECT_EQ(huge.cardinality, -1);
  const Closedness scalar = decide_closedness(KeySet{});
  EXPECT_EQ(scalar.method, "box");
  EXPECT_EQ(scalar.cardinality, 1);
  EXPECT_EQ(scalar.frontier, Key());
}

TEST(Closedness, OpaqueFunctionsAreEnumeratedOrUnknown) {
  const KeyFunction swap = KeyFunction::opaque("swap", 2, [](const Key& key) {
    return Key{key[1], key[0]};
  });
  const Closedness looked = decide_closedness(KeySet::box({30, 40}).rekey(swap));
  EXPECT_EQ(looked.method, "enumeration");
  EXPECT_EQ(looked.unique.answer, yes);
  EXPECT_EQ(looked.continuous.answer, yes);
  EXPECT_EQ(looked.frontier, Key({40, 30}));
  const auto odd = KeyPredicate::opaque("odd", [](const Key& key) { return key[0] % 2 == 1; });
  EXPECT_EQ(decide_closedness(KeySet::box({30}).filter(odd)).continuous.key, Key({0}));
  const KeyFunction failing =
      KeyFunction::opaque("failing", 1, [](const Key&) -> Key { throw ValueError("no such key"); });
  EXPECT_NE(
      decide_closedness(KeySet::box({3}).rekey(failing)).non_negative.reason.find("no such key"),
      std::string::npos);
  // What is not an error of ours is not ours to catch: an interruption, say.
  const KeyFunction strange = KeyFunction::opaque(
      "strange", 1, [](const Key&) -> Key { throw std::runtime_error("stop"); });
  EXPECT_THROW(decide_closedness(KeySet::box({3}).rekey(strange)), std::runtime_error);
  for (const KeySet& keys :
       {KeySet::box({3000, 4000}).rekey(swap), KeySet::box({30'000'000}).filter(odd)}) {
    const Closedness unseen = decide_closedness(keys);
    EXPECT_EQ(unseen.method, "none");
    EXPECT_EQ(unseen.unique.answer, unknown);
    EXPECT_EQ(unseen.continuous.answer, unknown);
    EXPECT_EQ(unseen.non_negative.answer, unknown);
    EXPECT_NE(unseen.unique.reason.find("opaque"), std::string::npos);
  }
}

TEST(Closedness, ValuesAtTheEdgeOf64Bits) {
  const Closedness overflow = decide_closedness(KeySet::box({1ll << 62}).rekey("<4*k0>"));
  EXPECT_EQ(overflow.non_negative.answer, no);
  EXPECT_NE(overflow.non_negative.reason.find("overflows 64 bits"), std::string::npos);
  EXPECT_EQ(overflow.unique.answer, unknown);
  for (const std::int64_t enumerate_up_to : {1'000'000, 0}) {
    const Closedness last = decide_closedness(KeySet::box({2}).rekey("<9223372036854775806 + k0>"),
                                              {enumerate_up_to, 20'000});
    EXPECT_EQ(last.unique.answer, yes);
    EXPECT_FALSE(last.frontier_known);  // there is no key above the greatest integer
    EXPECT_NE(last.continuous.answer, yes);
  }
}

TEST(Closedness, DeepExpressionsAreWalkedToTheBottom) {
  KeyExpr sum = key(0);
  KeyPredicate any = key(0) == 0;
  for (int i = 1; i <= 1'500; ++i) {
    sum = sum + (i % 2 == 0 ? 1 : -1);
    any = any || key(0) == i;
  }
  for (const std::int64_t enumerate_up_to : {1'000'000, 0}) {
    const KeySet keys{.extents = {3'000}, .where = any, .map = KeyFunction({sum})};
    const Closedness result = decide_closedness(keys, {.enumerate_up_to = enumerate_up_to});
    EXPECT_NE(result.unique.answer, no);
    EXPECT_NE(result.continuous.answer, no);
  }
}

TEST(Closedness, RefusesComponentsThatDoNotExist) {
  EXPECT_ERROR(TypeError, KeySet::box({2}).filter("k1 = 0"), "key component k1 does not exist");
  EXPECT_ERROR(TypeError, KeySet::box({2}).rekey("<k0, k3>"), "key component k3 does not exist");
  EXPECT_ERROR(TypeError, KeySet::box({2, -1}), "<2, -1>");
  EXPECT_ERROR(TypeError, decide_closedness({.extents = {2}, .map = "<k1>"}),
               "key component k1 does not exist");
  EXPECT_ERROR(TypeError, decide_closedness({.extents = {-2}}), "<-2>");
}

}  // namespace
}  // namespace tessera
