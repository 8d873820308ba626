#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/naive_product.h"
#include "support/special_values.h"

namespace tessera {
namespace {

/// mask * (a b) where the mask is stored.
Tile sampled(const Tile& mask, const Tile& a, const Tile& b, bool use_mask_values) {
  const Tile product = triple_loop(a, b);
  const DType dtype = use_mask_values ? promote(product.dtype(), mask.dtype()) : product.dtype();
  MutableTile result = MutableTile::zeros(dtype, mask.shape());
  visit_dtype(dtype, [&]<class T>() {
    T* out = result.data<T>();
    for (std::int64_t i = 0; i < mask.shape()[0]; ++i)
      for (std::int64_t j = 0; j < mask.shape()[1]; ++j, ++out)
        if (mask.is_stored({i, j}))
          *out =
              plus_product(T{}, product.at<T>({i, j}), use_mask_values ? mask.at<T>({i, j}) : T{1});
  });
  return std::move(result).publish();
}

TEST(SampledMatmul, EveryLayoutAndDtype) {
  for (DType mask_dtype : dtypes)
    for (DType dtype : dtypes) {
      const Tile where = random_matrix(mask_dtype, 5, 23, 26);
      const Tile x = random_matrix(dtype, 5, 37, 27);
      const Tile y = random_matrix(dtype, 37, 23, 28);
      const Tile weighted = sampled(where.with_sparse_dims(1), x, y, true);
      const Tile selected = sampled(where.with_sparse_dims(1), x, y, false);
      for (const Laid& mask : layouts(where))
        for (const Laid& a : layouts(x))
          for (int b_dims : {0, 1}) {
            SCOPED_TRACE(mask.how + " of " + a.how);
            const Tile b = y.with_sparse_dims(b_dims);
            EXPECT_TILE_EQ(KernelCall("sampled_matmul")({mask.tile, a.tile, b}), weighted);
            EXPECT_TILE_EQ(
                KernelCall("sddmm(transpose_b=true)")({mask.tile, a.tile, b.transpose()}),
                weighted);
            EXPECT_TILE_EQ(
                KernelCall("sampled_matmul(use_mask_values=false)")({mask.tile, a.tile, b}),
                selected);
          }
    }
}

TEST(SampledMatmul, HasTheLayoutOfTheMask) {
  const Tile ones = Tile::full(DType::f64, {2, 2}, 1);
  const auto dims = [&](int mask_dims) {
    return KernelCall("sddmm")({ones.with_sparse_dims(mask_dims), ones, ones}).sparse_dims();
  };
  EXPECT_EQ(dims(0), 1);
  EXPECT_EQ(dims(1), 1);
  EXPECT_EQ(dims(2), 2);
}

TEST(SampledMatmul, KeepsThePlacesOfTheMask) {
  const Tile mask = Tile::of<double>({2, 2}, {1, 0, 1, 1}).with_sparse_dims(2);
  const Tile product = KernelCall("sampled_matmul")(
      {mask, Tile::zeros(DType::f64, {2, 3}), Tile::zeros(DType::f64, {3, 2})});
  EXPECT_EQ(product.stored(), 3) << "zeros at stored places stay stored";
  EXPECT_FALSE(product.is_stored({0, 1}));
}

TEST(SampledMatmul, WhatIsNotStoredAnnihilatesEvenNaN) {
  const Tile mask = Tile::of<bool>({1, 2}, {true, false}).with_sparse_dims(1);
  const Tile a = Tile::of<double>({1, 2}, {0, 2});
  const Tile b = Tile::of<double>({2, 2}, {nan, nan, 3, nan});
  const Tile expected = Tile::of<double>({1, 2}, {6, 0});
  EXPECT_TILE_EQ(KernelCall("sddmm")({mask, a.with_sparse_dims(1), b}), expected);
  EXPECT_TILE_EQ(KernelCall("sddmm")({mask, a.with_sparse_dims(1), b.with_sparse_dims(1)}),
                 expected);
  EXPECT_TRUE(std::isnan(KernelCall("sddmm")({mask, a, b}).at<double>({0, 0})));
}

TEST(SampledMatmul, EmptyOperands) {
  for (DType dtype : dtypes) {
    EXPECT_TILE_EQ(KernelCall("sddmm")({Tile::full(dtype, {2, 3}, 1), Tile::zeros(dtype, {2, 0}),
                                        Tile::zeros(dtype, {0, 3})}),
                   Tile::zeros(dtype, {2, 3}));
    EXPECT_TILE_EQ(KernelCall("sddmm")({Tile::zeros(dtype, {0, 3}), Tile::zeros(dtype, {0, 4}),
                                        Tile::zeros(dtype, {4, 3})}),
                   Tile::zeros(dtype, {0, 3}));
  }
}

TEST(SampledMatmul, RefusesWhatDoesNotFit) {
  const auto infer = [](const Shape& mask, const Shape& a, const Shape& b) {
    return KernelCall("sampled_matmul")
        .infer(
            std::vector<TileType>{{DType::f64, mask, 1}, {DType::f64, a, 0}, {DType::f64, b, 0}});
  };
  EXPECT_ERROR(TypeError, infer({2, 2}, {2, 3}, {3, 4}),
               "sampled_matmul: the mask f64[2](2) does not match the product [2x4]");
  EXPECT_ERROR(TypeError, infer({2, 4}, {2, 3}, {4, 4}),
               "sampled_matmul: f64[2x3] and f64[4x4] cannot be multiplied");
  EXPECT_ERROR(TypeError, infer({2, 4}, {2, 3}, {3}), "must all be matrices");
}

}  // namespace
}  // namespace tessera
