#include "tile/nested_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "support/elements.h"
#include "support/expectations.h"

namespace tessera {
namespace {

std::string written(const Tile& tile, NotFinite not_finite = NotFinite::named) {
  std::ostringstream out;
  write_nested(out, tile, not_finite);
  return out.str();
}

TEST(NestedText, HasAllElementsRowByRow) {
  EXPECT_EQ(written(Tile::of<double>({2, 2}, {1, 0.1, 1e300, -2})), "[[1.0,0.1],[1e+300,-2.0]]");
  EXPECT_EQ(written(Tile::of<float>({1}, {0.1F})), "[0.1]");
  EXPECT_EQ(written(Tile::of<bool>({2}, {true, false})), "[true,false]");
  EXPECT_EQ(written(Tile::of<std::int64_t>({1}, {INT64_MIN})), "[-9223372036854775808]");
  EXPECT_EQ(written(Tile::of<double>({2, 3}, {1, 2, 3, 4, 5, 6}).transpose()),
            "[[1.0,4.0],[2.0,5.0],[3.0,6.0]]");
  EXPECT_EQ(written(Tile::of<double>({2, 2}, {0, 0, 7, 0}).with_sparse_dims(1)),
            "[[0.0,0.0],[7.0,0.0]]");
}

TEST(NestedText, NumbersThatJsonLacksAreNullOrNamed) {
  const Tile tile = Tile::of<double>({3}, {NAN, INFINITY, -INFINITY});
  EXPECT_EQ(written(tile, NotFinite::null), "[null,null,null]");
  EXPECT_EQ(written(tile, NotFinite::named), "[nan,inf,-inf]");
}

TEST(NestedText, IsReadBackAsTheSameTile) {
  for (const Tile& tile :
       {random_normal(DType::f64, {3, 4, 2}, 1), random_normal(DType::f32, {5}, 2),
        random_integers(DType::i64, {2, 2}, 3, INT64_MIN, INT64_MAX),
        random_uniform(DType::boolean, {7, 1}, 4), Tile::of<double>({2}, {INFINITY, -0.0}),
        Tile::zeros(DType::f64, {2, 0}), Tile::zeros(DType::f64, {0})})
    EXPECT_TRUE(tiles_equal(read_nested(written(tile), tile.dtype(), tile.rank()), tile))
        << written(tile);
  EXPECT_TRUE(std::isnan(read_nested("[nan]", DType::f64, 1).at<double>({0})));
}

TEST(NestedText, BlanksDoNoHarm) {
  EXPECT_TRUE(tiles_equal(read_nested(" [ [1 , 2],\n[3,4] ] ", DType::i64, 2),
                          Tile::of<std::int64_t>({2, 2}, {1, 2, 3, 4})));
}

TEST(NestedText, SaysWhatIsWrong) {
  const auto read = [](const char* text) { return read_nested(text, DType::i64, 2); };
  EXPECT_ERROR(ValueError, read("[[1,2],[3]]"), "a list of 1 follows a list of 2");
  EXPECT_ERROR(ValueError, read("[1,2]"), "malformed tensor: expected [ before '1,2]'");
  EXPECT_ERROR(ValueError, read("[[1,2]"), "malformed tensor: it ends too early");
  EXPECT_ERROR(ValueError, read("[[1 2]]"), "expected , or ] before '2]]'");
  EXPECT_ERROR(ValueError, read("[[1,2]] 3"), "unexpected text after its end: '3'");
  EXPECT_ERROR(ValueError, read("[[1,x]]"), "expected a number, not 'x]]'");
  EXPECT_ERROR(ValueError, read("[[1,2.5]]"), "expected a number, not '2.5]]'");
  EXPECT_ERROR(ValueError, read("[[1,9223372036854775808]]"), "expected a number, not");
  EXPECT_ERROR(ValueError, read("[[[1]]]"), "expected a number, not '[1]]]'");
  EXPECT_ERROR(ValueError, read(""), "it ends too early");
}

}  // namespace
}  // namespace tessera
