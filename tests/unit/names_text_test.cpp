#include "base/names_text.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

using Names = std::vector<std::string>;

TEST(NamesText, ManyNamesAreCutShort) {
  EXPECT_EQ(names_text({}), "none");
  EXPECT_EQ(names_text({"a", "b"}), "a, b");
  EXPECT_TRUE(names_text(Names(21, "x")).ends_with("x, x"));
  Names many(25, "x");
  EXPECT_TRUE(names_text(many).ends_with("x and 5 more"));
}

TEST(NamesText, SimilarNamesComeClosestFirst) {
  EXPECT_EQ(similar_names("nam", {"id", "names", "name"}), Names{"name"});
  EXPECT_EQ(similar_names("tota", {"totals", "count", "total"}), (Names{"total", "totals"}));
  EXPECT_EQ(similar_names("NAME", {"name"}), Names{"name"});
  EXPECT_EQ(similar_names("total", {"subtotals", "t", "count"}), Names{});
  EXPECT_EQ(similar_names("aaaa", {"aaab", "aaac", "aaad", "aaae"}),
            (Names{"aaab", "aaac", "aaad"}));
}

TEST(NamesText, HalfOfAShortNameHasToBeRight) {
  EXPECT_EQ(similar_names("x", {"y", "z"}), Names{});
  EXPECT_EQ(similar_names("k0", {"k1", "b7"}), Names{"k1"});
  EXPECT_EQ(similar_names("", {"", "a"}), Names{""});
}

TEST(NamesText, NamesWithoutEndAreNotCompared) {
  const std::string endless(1'000'000, 'a');
  EXPECT_EQ(similar_names(endless, {endless, "a"}), Names{});
  EXPECT_EQ(similar_names("a", {endless}), Names{});
}

TEST(NamesText, AMessageSaysWhatThereIsInstead) {
  EXPECT_EQ(instead_of("nme", {"id", "name"}), "did you mean \"name\"?");
  EXPECT_EQ(instead_of("peopl", {"people", "people2"}), "did you mean \"people\" or \"people2\"?");
  EXPECT_EQ(instead_of("x", {"id", "name"}), "available: id, name");
  EXPECT_EQ(instead_of("x", {}), "available: none");
}

}  // namespace
}  // namespace tessera
