// The worked examples of "Tensor Relational Algebra for Distributed Machine Learning System
// Design" (Yuan et al.), sections 2 and 3, with the paper's numbers.

#include <gtest/gtest.h>

#include "support/expectations.h"
#include "tessera/tessera.h"

namespace tessera {
namespace {

Tile matrix(const Shape& shape, std::initializer_list<double> values) {
  return Tile::of<double>(shape, values);
}
Tile block(std::initializer_list<double> values) { return matrix({2, 2}, values); }

void expect_relation(const Relation& actual, const std::vector<Tuple>& expected) {
  ASSERT_EQ(actual.size(), static_cast<std::int64_t>(expected.size())) << to_string(actual);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(to_string(actual.tuples()[i].key), to_string(expected[i].key));
    EXPECT_TILE_EQ(actual.tuples()[i].tiles[0], expected[i].tiles[0]);
  }
}

/// The 4x4 matrix A of section 2.2, in tiles of 2x2.
Relation matrix_a() {
  return Relation::from_tensor(
      matrix({4, 4}, {1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16}), {2, 2});
}

/// The 2x8 matrix B of section 3.1, partitioned by columns: its keys have one component.
Relation matrix_b() {
  return Relation::of({{{0}, {matrix({2, 4}, {1, 2, 5, 6, 3, 4, 7, 8})}},
                       {{1}, {matrix({2, 4}, {9, 10, 13, 14, 11, 12, 15, 16})}}});
}

TEST(TraPaper, Section22StoresAAsFourTuples) {
  expect_relation(matrix_a(), {{{0, 0}, {block({1, 2, 3, 4})}},
                               {{0, 1}, {block({5, 6, 7, 8})}},
                               {{1, 0}, {block({9, 10, 11, 12})}},
                               {{1, 1}, {block({13, 14, 15, 16})}}});
}

TEST(TraPaper, AggregationOverTheFirstKey) {
  const Plan plan = Plan::input(matrix_a(), "A").aggregate({1}, "matAdd");
  EXPECT_EQ(plan.frontier(), Key({2}));
  expect_relation(plan.run(), {{{0}, {block({10, 12, 14, 16})}}, {{1}, {block({18, 20, 22, 24})}}});
}

TEST(TraPaper, AggregationOverAllKeys) {
  const Plan plan = Plan::input(matrix_a(), "A").aggregate({}, "matAdd");
  EXPECT_EQ(plan.frontier(), Key());
  expect_relation(plan.run(), {{{}, {block({28, 32, 36, 40})}}});
}

TEST(TraPaper, JoinMultipliesPairsOfTiles) {
  const Plan a = Plan::input(matrix_a(), "A");
  const Plan pairs = a.join(a, {1}, {0}, "matMul");
  EXPECT_EQ(pairs.frontier(), Key({2, 2, 2}));
  EXPECT_EQ(pairs.cardinality().tuples, 8);
  const Relation joined = pairs.run();
  EXPECT_EQ(joined.size(), 8);
  EXPECT_TILE_EQ(joined.at({0, 1, 0}), block({111, 122, 151, 166}));
}

TEST(TraPaper, JoinAndAggregationMultiplyMatrices) {
  const Plan a = Plan::input(matrix_a(), "A");
  const Relation product = a.join(a, {1}, {0}, "matMul").aggregate({0, 2}, "matAdd").run();
  const Tile whole = matrix_a().to_tensor();
  EXPECT_TILE_EQ(product.to_tensor(), KernelCall("matMul")({whole, whole}));
  EXPECT_TILE_EQ(product.at({0, 0}), block({118, 132, 166, 188}));
}

TEST(TraPaper, FilterReKeyAndTransformTakeTheDiagonal) {
  const Plan plan = Plan::input(matrix_a(), "A")
                        .filter("k0 = k1")          // isEq
                        .rekey("<k0, k1> -> <k0>")  // getKey0
                        .transform("diag");
  expect_relation(plan.run(), {{{0}, {matrix({2}, {1, 4})}}, {{1}, {matrix({2}, {13, 16})}}});
}

TEST(TraPaper, TheDiagonalFilterAloneLeavesHoles) {
  const Plan filtered = Plan::input(matrix_a(), "A").filter("k0 = k1");
  EXPECT_EQ(filtered.closedness().unique.answer, Answer::yes);
  EXPECT_EQ(filtered.closedness().continuous.answer, Answer::no);
  EXPECT_EQ(filtered.rekey("<k0>").closedness().continuous.answer, Answer::yes);
}

TEST(TraPaper, TileCutsAlongADimension) {
  const Plan tiled = Plan::input(matrix_b(), "B").tile(1, 2);
  EXPECT_EQ(tiled.frontier(), Key({2, 2}));
  expect_relation(tiled.run(), {{{0, 0}, {block({1, 2, 3, 4})}},
                                {{0, 1}, {block({5, 6, 7, 8})}},
                                {{1, 0}, {block({9, 10, 11, 12})}},
                                {{1, 1}, {block({13, 14, 15, 16})}}});
}

TEST(TraPaper, ReKeyMakesItATwoByEightMatrixAgain) {
  const Plan plan = Plan::input(matrix_b(), "B").tile(1, 2).rekey("<k0, k1> -> <2*k0 + k1>");
  EXPECT_EQ(plan.closedness().unique.answer, Answer::yes);
  EXPECT_EQ(plan.closedness().continuous.answer, Answer::yes);
  EXPECT_EQ(plan.frontier(), Key({4}));
  expect_relation(plan.run(), {{{0}, {block({1, 2, 3, 4})}},
                               {{1}, {block({5, 6, 7, 8})}},
                               {{2}, {block({9, 10, 11, 12})}},
                               {{3}, {block({13, 14, 15, 16})}}});
}

TEST(TraPaper, ConcatUndoesTile) {
  const Plan b = Plan::input(matrix_b(), "B");
  const Plan plan = b.tile(1, 2).concat(1, 1);
  EXPECT_EQ(plan.type(), b.type());
  expect_relation(plan.run(), matrix_b().tuples());
}

}  // namespace
}  // namespace tessera
