#include "kernel/einsum_spec.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

std::string refusal(const EinsumSpec& spec, const std::vector<Shape>& shapes) {
  try {
    (void)spec.extents(shapes);
  } catch (const TypeError& error) {
    return error.what();
  }
  return "";
}

TEST(EinsumSpec, WithoutAnArrowTheResultHasWhatOccursOnce) {
  EXPECT_EQ(EinsumSpec::parse("ik, kj", {2, 2}).to_string(), "ik,kj->ij");
  EXPECT_EQ(EinsumSpec::parse("ba", {2}).to_string(), "ba->ab");
  EXPECT_EQ(EinsumSpec::parse("ii", {2}).to_string(), "ii->");
}

TEST(EinsumSpec, ExtentsAreThoseOfTheShapes) {
  const EinsumSpec::Extents expected{{'i', 2}, {'j', 4}, {'k', 3}};
  EXPECT_EQ(EinsumSpec::parse("ik,kj->ij", {2, 2}).extents({{2, 3}, {3, 4}}), expected);
}

TEST(EinsumSpec, ShapesThatDoNotFitAreRefused) {
  const EinsumSpec product = EinsumSpec::parse("ik,kj->ij", {2, 2});
  EXPECT_EQ(refusal(product, {{2, 3}, {4, 5}}),
            "einsum: shapes [2x3] and [4x5] do not match 'ik,kj->ij': index k has sizes 3 and 4");
  EXPECT_EQ(refusal(product, {{2, 3}, {3}}), "einsum: 'kj' has 2 indices for a tensor of [3]");
  EXPECT_EQ(refusal(EinsumSpec::parse("ii->i", {2}), {{2, 3}}),
            "einsum: shapes [2x3] and [2x3] do not match 'ii->i': index i has sizes 2 and 3");
  EXPECT_EQ(
      refusal(EinsumSpec::parse("abcde,fghij->abcdefghi", {5, 5}),
              {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}),
      "einsum: the output of 'abcde,fghij->abcdefghi' has 9 dimensions, but the maximum is 8");
}

TEST(EinsumSpec, WhatNobodyElseAsksForIsSummedFirst) {
  const EinsumSpec spec = EinsumSpec::parse("aibk,kj->bij", {4, 2});
  EXPECT_EQ(spec.summed_first(0).axes, std::vector<std::int64_t>{0});
  EXPECT_EQ(spec.summed_first(0).left, "ibk");
  EXPECT_TRUE(spec.summed_first(1).axes.empty());
  EXPECT_EQ(spec.summed_first(1).left, "kj");
}

TEST(EinsumSpec, RolesAreInTheOrderOfTheOperands) {
  const EinsumSpec::Roles roles = EinsumSpec::parse("lbikc,ckjbm->jlbci", {5, 5}).roles();
  EXPECT_EQ(roles.batch, "bc");
  EXPECT_EQ(roles.summed, "k");
  EXPECT_EQ(roles.left, "li");
  EXPECT_EQ(roles.right, "jm");
}

TEST(EinsumSpec, DimensionsOfARepeatedLetterComeLast) {
  const auto twice = repetition_in("kijik");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->order, (std::vector<int>{1, 2, 3, 0, 4}));
  EXPECT_EQ(twice->letters, "ijik");
  EXPECT_FALSE(repetition_in("ijk"));
  EXPECT_EQ(axes_of("kj", "ijk"), (std::vector<int>{2, 1}));
}

}  // namespace
}  // namespace tessera
