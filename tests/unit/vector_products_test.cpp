#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/naive_product.h"
#include "support/special_values.h"

namespace tessera {
namespace {

TEST(Outer, PairsAllElements) {
  const KernelCall outer("outer");
  for (DType dtype : dtypes)
    for (int a_dims : {0, 1, 2})
      for (int b_dims : {0, 1}) {
        const Tile a = random_matrix(dtype, 2, 3, 22);
        const Tile b = random_matrix(dtype, 1, 4, 23).reshape({4});
        const Tile expected = triple_loop(a.reshape({6, 1}), b.reshape({1, 4})).reshape({2, 3, 4});
        const Tile x = a.with_sparse_dims(a_dims);
        const Tile y = b.with_sparse_dims(b_dims);
        EXPECT_TILE_EQ(outer({x, y}), expected);
        MutableTile sum = MutableTile::copy_of(expected);
        outer.accumulate(sum, std::vector{x, y});
        EXPECT_TILE_EQ(std::move(sum).publish(), added(expected, expected));
        EXPECT_TILE_EQ(outer({x.transpose(), y}), expected.permute({1, 0, 2}));
      }
  EXPECT_TILE_EQ(outer({Tile::scalar(2.0), Tile::scalar(3.0)}), Tile::scalar(6.0));
  EXPECT_EQ(outer({Tile::zeros(DType::f64, {0, 2}), Tile::scalar(3.0)}).shape(), Shape({0, 2}));
}

TEST(Outer, SparseVectorsMakeASparseMatrix) {
  const Tile a = Tile::of<double>({3}, {0, 2, 0}).with_sparse_dims(1);
  const Tile b = Tile::of<double>({2}, {nan, 3}).with_sparse_dims(1);
  const Tile product = KernelCall("outer")({a, b});
  EXPECT_EQ(to_string(product.type()), "f64[](3x2)");
  EXPECT_EQ(product.stored(), 2);
  const Tile expected = Tile::of<double>({3, 2}, {0, 0, nan, 6, 0, 0});
  EXPECT_TILE_EQ(product, expected);
  EXPECT_TILE_EQ(KernelCall("outer")({a, b.dense()}), expected);
}

TEST(Outer, RefusesTooManyDimensions) {
  const TileType type{DType::f64, {1, 1, 1, 1, 1}, 0};
  EXPECT_ERROR(
      TypeError, KernelCall("outer").infer(std::vector{type, type}),
      "outer: f64[1x1x1x1x1] and f64[1x1x1x1x1] cannot be multiplied: the result would have 10");
}

TEST(Inner, SumsElementwiseProductsInEveryLayout) {
  for (DType left : dtypes)
    for (DType right : dtypes)
      for (const Laid& a : layouts(random_matrix(left, 4, 5, 24)))
        for (const Laid& b : layouts(random_matrix(right, 4, 5, 25))) {
          SCOPED_TRACE(a.how + " and " + b.how);
          EXPECT_TILE_EQ(KernelCall("inner")({a.tile, b.tile}),
                         triple_loop(a.tile.reshape({1, 20}), b.tile.reshape({20, 1})).reshape({}));
        }
  EXPECT_TILE_EQ(KernelCall("dot")({Tile::scalar(2.0), Tile::scalar(3.0)}), Tile::scalar(6.0));
  EXPECT_TILE_EQ(KernelCall("inner")({Tile::zeros(DType::i64, {0}), Tile::zeros(DType::i64, {0})}),
                 Tile::scalar(std::int64_t{0}));
}

TEST(Inner, WhatIsNotStoredAnnihilatesEvenNaN) {
  const Tile a = Tile::of<double>({3}, {0, 2, 1}).with_sparse_dims(1);
  const Tile b = Tile::of<double>({3}, {nan, 3, 0});
  EXPECT_TILE_EQ(KernelCall("inner")({a, b}), Tile::scalar(6.0));
  EXPECT_TILE_EQ(KernelCall("inner")({b.with_sparse_dims(1), a}), Tile::scalar(6.0));
}

TEST(Inner, RefusesDifferentShapes) {
  const std::vector<TileType> types = {{DType::f64, {2, 3}, 0}, {DType::f64, {3, 2}, 0}};
  EXPECT_ERROR(TypeError, KernelCall("inner").infer(types),
               "inner: f64[2x3] and f64[3x2] do not match");
}

}  // namespace
}  // namespace tessera
