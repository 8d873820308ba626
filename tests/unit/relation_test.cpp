#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expectations.h"

namespace tessera {
namespace {

Tile number(double value) { return Tile::scalar(value); }

TEST(Relation, OrdersTuplesAndKnowsItsFrontier) {
  const Relation r = Relation::of(
      {{{1, 0}, {number(3)}}, {{0, 1}, {number(2)}}, {{0, 0}, {number(1)}}, {{1, 1}, {number(4)}}});
  EXPECT_EQ(r.frontier(), Key({2, 2}));
  EXPECT_EQ(r.tuples()[1].key, Key({0, 1}));
  EXPECT_EQ(r.at({1, 0}).at<double>({}), 3);
  EXPECT_EQ(to_string(r.type()), "<2, 2> -> f64[]");
}

TEST(Relation, RefusesWhatBreaksAnIntegrityConstraint) {
  EXPECT_ERROR(PlanError, Relation::of({{{0}, {number(1)}}, {{0}, {number(2)}}}),
               "duplicate key <0>; keys must be unique");
  EXPECT_ERROR(PlanError, Relation::of({{{0}, {number(1)}}, {{2}, {number(2)}}}),
               "key <1> below the frontier <3> is missing");
  EXPECT_ERROR(PlanError, Relation::of({{{-1}, {number(1)}}}),
               "key <-1> is not in the range 0 to 2^62");
  EXPECT_ERROR(TypeError, Relation::of({{{0}, {number(1)}}, {{1, 0}, {number(2)}}}),
               "keys <0> and <1, 0> have different numbers of components: 1 and 2");
  EXPECT_ERROR(TypeError, Relation::of({{{0}, {number(1)}}, {{1}, {Tile::zeros(DType::f64, {2})}}}),
               "column 0 is f64[] at key <0> but f64[2] at key <1>");
  EXPECT_ERROR(TypeError, Relation::of({{{0}, {number(1)}}, {{1}, {Tile::scalar(1.0F)}}}),
               "column 0 is f64[] at key <0> but f32[] at key <1>");
  EXPECT_ERROR(TypeError, Relation::of({{{0}, {number(1)}}, {{1}, {number(1), number(2)}}}),
               "the tuple at key <0> has 1 columns, the one at <1> has 2");
  EXPECT_ERROR(TypeError, Relation::of({}), "a relation without tuples has no known type");
  EXPECT_ERROR(PlanError, Relation::of({{{3}, {number(1)}}}, Presence::sparse, Key({2})),
               "frontier <2> is too small: the keys need <4>");
}

TEST(Relation, TensorsOfEveryShapeRoundTrip) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{5, 7}, Shape{1, 9}, Shape{0, 4},
                             Shape{4, 0}, Shape{3, 4, 5}})
    for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean})
      for (int sparse_dims = 0; sparse_dims <= shape.rank(); ++sparse_dims)
        for (Presence presence : {Presence::continuous, Presence::sparse}) {
          const Tile tensor = random_integers(dtype, shape, 3, -1, 2).with_sparse_dims(sparse_dims);
          const Shape tile(shape.size(), 3);
          const Relation r = Relation::from_tensor(tensor, tile, presence);
          EXPECT_TILE_EQ(r.to_tensor(), tensor);
          EXPECT_EQ(r.to_tensor().sparse_dims(), sparse_dims);
        }
}

TEST(Relation, TilesOfATensorAreViewsOfIt) {
  const Tile tensor = random_uniform(DType::f64, {4, 4}, 1);
  const Relation r = Relation::from_tensor(tensor, {2, 2});
  EXPECT_EQ(r.at({1, 1}).data<double>(), tensor.data<double>() + 10);
}

TEST(Relation, ASparseRelationAnswersZerosForWhatItLacks) {
  const Tile tensor = Tile::of<double>({3, 3}, {0, 0, 1, 0, 0, 2, 0, 0, 3});
  const Relation r = Relation::from_tensor(tensor, {2, 2}, Presence::sparse);
  EXPECT_EQ(r.size(), 2);
  EXPECT_EQ(r.find({0, 0}), nullptr);
  EXPECT_TILE_EQ(r.at({0, 0}), Tile::zeros(DType::f64, {2, 2}));
  EXPECT_TILE_EQ(r.at({1, 0}), Tile::zeros(DType::f64, {1, 2}));  // the edge tile's shape
  EXPECT_ERROR(TypeError, r.at({2, 0}), "key <2, 0> is not below the frontier <2, 2>");
}

TEST(Relation, CountsItsStatistics) {
  const Tile tensor = Tile::of<double>({2, 4}, {0, 0, 1, -5, 0, 0, 2, 0});
  const Statistics dense = Relation::from_tensor(tensor, {2, 2}).statistics();
  EXPECT_EQ(dense.tuples, 2);
  EXPECT_EQ(dense.nonzeros, 3);
  EXPECT_EQ(dense.min, -5);
  EXPECT_EQ(dense.max, 2);
  EXPECT_EQ(dense.distinct, (std::vector<std::int64_t>{1, 2}));
  const Tile positive = Tile::of<double>({2}, {3, 0});
  const Statistics sparse = Relation::from_tensor(positive, {1}, Presence::sparse).statistics();
  EXPECT_EQ(sparse.tuples, 1);
  EXPECT_EQ(sparse.min, 0);  // the tile that is not stored is zero
}

TEST(Relation, StatisticsDoNotDependOnTheOrderOfTuples) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& values : {std::vector<double>{nan, 1, 2}, {1, nan, 2}, {1, 2, nan}}) {
    const Statistics found = Relation::from_tensor(Tile::of<double>({3}, values), {1}).statistics();
    EXPECT_TRUE(std::isnan(found.min) && std::isnan(found.max));
    EXPECT_EQ(found.nonzeros, 3);
  }
}

TEST(Relation, ATensorNeedsAKeyComponentForEachDimension) {
  const Relation r = Relation::of({{{0}, {Tile::zeros(DType::f64, {2, 2})}}});
  EXPECT_ERROR(TypeError, r.to_tensor(), "is not a tensor: key component i must count");
  EXPECT_ERROR(TypeError, Relation::from_tensor(Tile::zeros(DType::f64, {2, 2}), {2}),
               "f64[2x2] cannot be cut into tiles of [2]");
  EXPECT_ERROR(TypeError, Relation::from_tensor(Tile::zeros(DType::f64, {2}), {0}),
               "tile sizes must be positive");
}

TEST(Relation, PrintsItsEnds) {
  const Relation r = Relation::from_tensor(Tile::of<double>({2, 2}, {1, 2, 3, 4}), {2, 1});
  EXPECT_EQ(to_string(r),
            "<1, 2> -> f64[2x1], 2 tuples\n"
            "  <0, 0>  [[1.]\n"
            "           [3.]]\n"
            "  <0, 1>  [[2.]\n"
            "           [4.]]");
}

}  // namespace
}  // namespace tessera
