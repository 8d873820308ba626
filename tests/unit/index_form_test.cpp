#include "kernel/form/index_form.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expectations.h"

namespace tessera {
namespace {

Tile computed(const std::string& form, const std::vector<Tile>& arguments) {
  return KernelCall("compute", {{"form", form}})(arguments);
}

const Tile a = Tile::of<double>({2, 3}, {1, 2, 3, 4, 5, 6});
const Tile b = Tile::of<double>({3, 2}, {1, 0, 2, 1, 0, 3});

TEST(IndexForm, SaysWhatAnElementIs) {
  EXPECT_TILE_EQ(computed("[i,j] #0[j,i]", {a}), a.transpose());
  EXPECT_TILE_EQ(computed("[i,j] sum([k] #0[i,k] * #1[k,j])", {a, b}),
                 KernelCall("matmul")({a, b}));
  EXPECT_TILE_EQ(computed("[] max([i,j] #0[i,j])", {a}), Tile::scalar(6.0));
  EXPECT_TILE_EQ(computed("[i:3] i * i", {a}), (Tile::of<std::int64_t>({3}, {0, 1, 4})));
  EXPECT_TILE_EQ(computed("[i:2,j:2] where(i == j, 1.0, 0.0)", {a}),
                 (Tile::of<double>({2, 2}, {1, 0, 0, 1})));
  // Of a stencil, the branch that would read outside is not computed.
  EXPECT_TILE_EQ(computed("[i,j] where(j > 0, #0[i,j - 1], 0.0) + #0[i,j]", {a}),
                 (Tile::of<double>({2, 3}, {1, 3, 5, 4, 9, 11})));
}

TEST(IndexForm, AnExtentIsGivenOrThatOfADimension) {
  EXPECT_TILE_EQ(computed("[i:2,j:2] #0[i,j]", {a}), (Tile::of<double>({2, 2}, {1, 2, 4, 5})));
  EXPECT_TILE_EQ(computed("[i:1] sum([j] #0[i,j])", {a}), (Tile::of<double>({1}, {6})));
  EXPECT_TILE_EQ(computed("[i:1] sum([k] #0[k,0]) + #0[i,0]", {a}), (Tile::of<double>({1}, {6})));
  EXPECT_TILE_EQ(computed("[i:#0:1] i", {a}), (Tile::of<std::int64_t>({3}, {0, 1, 2})));
  EXPECT_EQ(to_string(parse_index_form("[i:#0:1,j:4] i+j")), "[i:#0:1,j:4] i + j");
  EXPECT_EQ(message_of<TypeError>([] { (void)computed("[i:3] #0[i,0]", {a}); }),
            "index i of [i:3] #0[i,0] has extent 3, but dimension 0 of argument #0 has 2");
  EXPECT_EQ(message_of<TypeError>([] { (void)computed("[i:#0:2] i", {a}); }),
            "index i of [i:#0:2] i is like dimension 2 of argument #0, which does not exist");
}

TEST(IndexForm, FoldsWithEachMonoid) {
  const auto folded = [&](const std::string& monoid) {
    return computed("[i] " + monoid + "([j] #0[i,j])", {a});
  };
  EXPECT_TILE_EQ(folded("sum"), (Tile::of<double>({2}, {6, 15})));
  EXPECT_TILE_EQ(folded("product"), (Tile::of<double>({2}, {6, 120})));
  EXPECT_TILE_EQ(folded("min"), (Tile::of<double>({2}, {1, 4})));
  EXPECT_TILE_EQ(folded("max"), (Tile::of<double>({2}, {3, 6})));
  EXPECT_TILE_EQ(folded("all"), (Tile::of<bool>({2}, {true, true})));
  EXPECT_TILE_EQ(folded("argmax"), (Tile::of<std::int64_t>({2}, {2, 2})));
  EXPECT_TILE_EQ(folded("argmin"), (Tile::of<std::int64_t>({2}, {0, 0})));
  EXPECT_TILE_EQ(computed("[i] sum([j] #0[i,j] | #0[i,j] > 2)", {a}),
                 (Tile::of<double>({2}, {3, 15})));
  EXPECT_TILE_EQ(computed("[] sum([i,j] #0[i,j] > 2)", {a}), Tile::scalar<std::int64_t>(4));
  EXPECT_TILE_EQ(computed("[] argmax([i,j] #0[i,j] | j < 2)", {a}), Tile::scalar<std::int64_t>(4));
  // Nothing is folded.
  const Tile empty = Tile::zeros(DType::f64, {2, 0});
  EXPECT_TILE_EQ(computed("[i] sum([j] #0[i,j])", {empty}), (Tile::of<double>({2}, {0, 0})));
  EXPECT_TILE_EQ(computed("[i] argmin([j] #0[i,j])", {empty}),
                 (Tile::of<std::int64_t>({2}, {-1, -1})));
  // NaN is an extreme, and the first one is found.
  const Tile nan = Tile::of<double>({3}, {2, NAN, 1});
  EXPECT_TILE_EQ(computed("[] argmin([i] #0[i])", {nan}), Tile::scalar<std::int64_t>(1));
  EXPECT_TILE_EQ(computed("[] min([i] #0[i])", {nan}), Tile::scalar<double>(NAN));
}

TEST(IndexForm, TypesArePromotedAsInKernels) {
  const Tile whole = Tile::of<std::int64_t>({2}, {1, 2});
  const Tile single = Tile::of<float>({2}, {0.5, 0.25});
  EXPECT_EQ(computed("[i] #0[i] + #1[i]", {whole, single}).dtype(), DType::f64);
  EXPECT_EQ(computed("[i] #0[i] / #0[i]", {whole}).dtype(), DType::f64);
  EXPECT_EQ(computed("[i] exp(#0[i])", {single}).dtype(), DType::f32);
  EXPECT_EQ(computed("[i] #0[i] * f32(2.0)", {single}).dtype(), DType::f32);
  EXPECT_EQ(computed("[] sum([i] #0[i] == #0[i])", {whole}).dtype(), DType::i64);
  EXPECT_EQ(computed("[] sum([i] #0[i])", {single}).dtype(), DType::f32);
  EXPECT_EQ(computed("[i] where(true, #0[i], 1)", {single}).dtype(), DType::f64);
}

TEST(IndexForm, TextsAreReadBack) {
  for (const std::string text :
       {"[i,j] sum([k] #0[i,k] * #1[k,j])", "[] 1", "[i:10] i // 3 % 2",
        "[i] -1 * #0[i] - (2 - #0[i])", "[i] (#0[i] + 1.5) * #0[i] / 2e+100",
        "[i] where(#0[i] > 0 and not_equal(#0[i], 3) or false, #0[i], f32(0.1))",
        "[i] argmax([k:4,l] #1[k + i,l] | k < l)", "[] -9223372036854775808",
        "[i] (#0[i] < 1) == (#0[i] > 2)", "[i] max([j] #0[i,j] - min([k] #0[k,j])) + -inf + nan",
        "[i] f32(#0[i] - 3)", "[i] #0[i,0] - #1[]"}) {
    const IndexForm form = parse_index_form(text);
    const std::string printed = to_string(form);
    const IndexForm again = parse_index_form(printed);
    EXPECT_EQ(to_string(again), printed);
    if (text.find("nan") == std::string::npos) EXPECT_TRUE(same(form.value, again.value)) << text;
  }
  EXPECT_EQ(to_string(parse_index_form("[i] ((#0[i]*2)+(3/(1-#0[i])))")),
            "[i] #0[i] * 2 + 3 / (1 - #0[i])");
}

TEST(IndexForm, MistakesAreTold) {
  EXPECT_EQ(message_of<ParseError>([] { (void)parse_index_form("[i] #0[i] +"); }),
            "index form '[i] #0[i] +', column 12: expected a term");
  EXPECT_EQ(message_of<ParseError>([] { (void)parse_index_form("[i] j"); }),
            "index form '[i] j', column 6: expected an index, not \"j\"");
  EXPECT_EQ(message_of<ParseError>([] { (void)parse_index_form("[i] sum([k] #0[k]) + k"); }),
            "index form '[i] sum([k] #0[k]) + k', column 23: expected an index, not \"k\"");
  EXPECT_EQ(
      message_of<ParseError>([] { (void)parse_index_form("[i] exp(1, 2)"); }),
      "index form '[i] exp(1, 2)', column 14: expected a function of 2 arguments, not \"exp\"");
  EXPECT_EQ(message_of<ParseError>([] { (void)parse_index_form("i"); }),
            "index form 'i', column 1: expected '['");
  std::string deep = "[] 1";
  for (int i = 0; i < 300; ++i) deep.insert(3, "(");
  EXPECT_THROW((void)parse_index_form(deep), ParseError);
  const auto refusal = [](const std::string& form, const std::vector<Tile>& arguments) {
    return message_of<TypeError>([&] { (void)computed(form, arguments); });
  };
  EXPECT_EQ(refusal("[i] #0[i]", {a}),
            "[i] #0[i] reads argument #0 at 1 positions, but its shape is [2x3]");
  EXPECT_EQ(refusal("[i] i", {a}),
            "the extent of index i in [i] i is not known: it is no position of an argument by "
            "itself; write [i:n]");
  EXPECT_EQ(
      refusal("[i,j] #0[i,j] + #1[i,j]", {a, b}),
      "index i of [i,j] #0[i,j] + #1[i,j] has extent 2, but dimension 0 of argument #1 has 3");
  EXPECT_EQ(refusal("[i:2] #0[i,#0[i,0]]", {a}),
            "a position of argument #0 in [i:2] #0[i,#0[i,0]] must be an integer, not f64");
  EXPECT_EQ(refusal("[i,j] #1[i,j]", {a}), "[i,j] #1[i,j] reads argument #1, but there are 1");
  EXPECT_EQ(message_of<ValueError>([] { (void)computed("[i,j:3] #0[i,j + 1]", {a}); }),
            "index 3 is out of bounds for dimension 1 with size 3");
}

TEST(IndexForm, SparseArgumentsCountAsDenseOnes) {
  const Tile sparse = random_sparse({DType::f64, {5, 4}, 1}, 3, 0.3);
  EXPECT_TILE_EQ(computed("[i] sum([j] #0[i,j])", {sparse}),
                 KernelCall("sum(axes=[1])")({sparse.dense()}));
}

}  // namespace
}  // namespace tessera
