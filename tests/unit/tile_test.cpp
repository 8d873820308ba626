#include "tessera/tile.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/expectations.h"
#include "support/special_values.h"

namespace tessera {
namespace {

Tile iota(const Shape& shape) {
  std::vector<double> values(shape.elements());
  std::iota(values.begin(), values.end(), 1.0);
  return Tile::of(shape, values);
}

TEST(Tile, KnowsItsTypeAndElements) {
  const Tile tile = Tile::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(to_string(tile.type()), "f32[2x3]");
  EXPECT_EQ(tile.at<double>({1, 2}), 6);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.data<float>()) % 64, 0U);
  EXPECT_EQ(Tile::scalar(true).at<std::int64_t>({}), 1);
  EXPECT_EQ(Tile().at<double>({}), 0);
}

TEST(Tile, WrapsMemoryWithoutACopy) {
  auto owner = std::make_shared<std::vector<double>>(6, 2.0);
  const std::weak_ptr<std::vector<double>> watched = owner;
  {
    const Tile tile = Tile::wrap(DType::f64, {2, 3}, owner->data(), owner);
    EXPECT_EQ(tile.data<double>(), owner->data());
    const Tile row = tile.slice({1, 0}, {2, 3});
    EXPECT_EQ(row.data<double>(), owner->data() + 3);
    owner.reset();
    EXPECT_FALSE(watched.expired());  // the view keeps the memory
    EXPECT_EQ(row.at<double>({0, 2}), 2);
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Tile, SlicesAndTransposesAreViews) {
  const Tile tile = iota({3, 4});
  const Tile column = tile.slice({0, 1}, {3, 2});
  EXPECT_EQ(column.data<double>(), tile.data<double>() + 1);
  EXPECT_FALSE(column.is_contiguous());
  EXPECT_TILE_EQ(column, Tile::of<double>({3, 1}, {2, 6, 10}));
  const Tile turned = tile.transpose();
  EXPECT_EQ(turned.data<double>(), tile.data<double>());
  EXPECT_EQ(turned.at<double>({3, 1}), 8);
  EXPECT_TILE_EQ(turned.contiguous(), turned);
  EXPECT_TILE_EQ(tile.slice({2, 3}, {-1, -1}, {-2, -3}), Tile::of<double>({2, 2}, {12, 9, 4, 1}));
  EXPECT_EQ(tile.diagonal().data<double>(), tile.data<double>());
  EXPECT_TILE_EQ(tile.diagonal(), Tile::of<double>({3}, {1, 6, 11}));
  EXPECT_TILE_EQ(iota({3}).broadcast({2, 3}), Tile::of<double>({2, 3}, {1, 2, 3, 1, 2, 3}));
}

TEST(Tile, MutableTileTakesBackWhatNobodyElseHolds) {
  Tile tile = iota({2, 2});
  const double* storage = tile.data<double>();
  MutableTile own = MutableTile::take(std::move(tile));
  EXPECT_EQ(own.data<double>(), storage);
  own.data<double>()[0] = 9;
  Tile published = std::move(own).publish();
  const Tile shared = published;
  MutableTile copy = MutableTile::take(std::move(published));
  copy.data<double>()[0] = 7;
  EXPECT_EQ(shared.at<double>({0, 0}), 9);
}

TEST(Tile, MutableTileNeverTakesAViewsOrAStrangersMemory) {
  std::vector<double> memory{1, 2, 3, 4};
  MutableTile a =
      MutableTile::take(Tile::wrap(DType::f64, {4}, memory.data(), std::shared_ptr<const void>()));
  a.data<double>()[0] = 5;
  EXPECT_EQ(memory[0], 1);
  const Tile whole = iota({4});
  MutableTile b = MutableTile::take(whole.slice({0}, {4}));
  b.data<double>()[0] = 5;
  EXPECT_EQ(whole.at<double>({0}), 1);
}

TEST(Tile, SparseLayoutIsCsrGeneralised) {
  const Tile dense = Tile::of<double>({2, 2, 3}, {0, 7, 0, 0, 0, 0, 1, 0, 2, 0, 0, 3});
  const Tile csr = dense.with_sparse_dims(1);
  EXPECT_EQ(to_string(csr.type()), "f64[2x2](3)");
  EXPECT_EQ(std::vector<std::int64_t>(csr.offsets(), csr.offsets() + 5),
            (std::vector<std::int64_t>{0, 1, 1, 3, 4}));
  EXPECT_EQ(std::vector<std::int64_t>(csr.coordinates(), csr.coordinates() + 4),
            (std::vector<std::int64_t>{1, 0, 2, 2}));
  const Tile two = dense.with_sparse_dims(2);  // coordinates linearise the last two dimensions
  EXPECT_EQ(std::vector<std::int64_t>(two.coordinates(), two.coordinates() + 4),
            (std::vector<std::int64_t>{1, 0, 2, 5}));
  EXPECT_EQ(two.at<double>({1, 1, 2}), 3);
  EXPECT_FALSE(two.is_stored({0, 0, 0}));
  EXPECT_TILE_EQ(two.dense(), dense);
}

TEST(Tile, SparseBooleanTilesHaveNoValues) {
  const Tile mask = Tile::of<bool>({2, 2}, {true, false, false, true}).with_sparse_dims(1);
  EXPECT_EQ(mask.bytes_begin(), nullptr);
  EXPECT_EQ(mask.bytes(), 3 * 8 + 2 * 8);
  EXPECT_TRUE(mask.at<bool>({1, 1}));
  EXPECT_TILE_EQ(mask.cast(DType::f32), Tile::of<float>({2, 2}, {1, 0, 0, 1}));
}

TEST(Tile, EveryLayoutConvertsToEveryOther) {
  for (DType dtype : dtypes)
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{0, 3}, Shape{3, 0}, Shape{2, 3, 4},
                               Shape{1, 1, 1, 1, 2, 1, 3, 2}}) {
      const Tile dense = random_integers(dtype, shape, 7, -1, 2);
      for (int from = 0; from <= shape.rank(); ++from)
        for (int to = 0; to <= shape.rank(); ++to)
          EXPECT_TILE_EQ(dense.with_sparse_dims(from).with_sparse_dims(to), dense);
    }
}

TEST(Tile, SparseRearrangementsAgreeWithDenseOnes) {
  const Tile dense = random_integers(DType::i64, {3, 4, 5}, 11, -1, 2);
  for (int dims = 1; dims <= 3; ++dims) {
    const Tile sparse = dense.with_sparse_dims(dims);
    EXPECT_TILE_EQ(sparse.transpose(), dense.transpose());
    EXPECT_TILE_EQ(sparse.permute({1, 0, 2}), dense.permute({1, 0, 2}));
    EXPECT_TILE_EQ(sparse.reshape({12, 5}), dense.reshape({12, 5}));
    EXPECT_TILE_EQ(sparse.reshape({5, 2, 6, 1}), dense.reshape({5, 2, 6, 1}));
    EXPECT_TILE_EQ(sparse.slice({1, 0, 2}, {3, 4, 4}), dense.slice({1, 0, 2}, {3, 4, 4}));
    EXPECT_TILE_EQ(sparse.slice({2, 3, 4}, {-1, 0, 0}, {-1, -2, -3}),
                   dense.slice({2, 3, 4}, {-1, 0, 0}, {-1, -2, -3}));
    EXPECT_TILE_EQ(sparse.diagonal(), dense.diagonal());
    EXPECT_EQ(sparse.transpose().sparse_dims(), dims);
  }
}

TEST(Tile, SlicingASparseTileAlongItsFirstDenseDimensionIsAView) {
  const Tile sparse = random_sparse({DType::f64, {10, 8}, 1}, 3, 0.3);
  const Tile middle = sparse.slice({4, 0}, {7, 8});
  EXPECT_EQ(middle.coordinates(), sparse.coordinates());
  EXPECT_EQ(middle.rows(), 3);
  EXPECT_TILE_EQ(middle, sparse.dense().slice({4, 0}, {7, 8}));
}

TEST(Tile, SparseStorageIsCheckedWhenWrapped) {
  const TileType type{DType::f64, {2, 3}, 1};
  const double values[] = {1, 2, 3};
  const auto wrap = [&](std::vector<std::int64_t> offsets, std::vector<std::int64_t> coordinates) {
    return Tile::wrap_sparse(type, offsets.data(), coordinates.data(), values, nullptr).stored();
  };
  EXPECT_EQ(wrap({0, 1, 3}, {2, 0, 1}), 3);
  EXPECT_ERROR(TypeError, wrap({0, 2, 1}, {0, 1, 2}),
               "offset 1 is 2, greater than the next offset 1");
  EXPECT_ERROR(TypeError, wrap({0, 1, 3}, {3, 0, 1}),
               "coordinate 3 of row 0 is not in the range 0 to 2");
  EXPECT_ERROR(TypeError, wrap({0, 1, 3}, {2, 1, 1}),
               "coordinates 1 and 1 of row 1 are not increasing");
}

TEST(Tile, CastsLikeCpp) {
  const Tile floats = Tile::of<double>({4}, {-1.7, 0, NAN, 1e30});
  EXPECT_EQ(floats.cast(DType::i64).at<std::int64_t>({0}), -1);
  EXPECT_EQ(floats.cast(DType::i64).at<std::int64_t>({2}), INT64_MIN);
  EXPECT_EQ(floats.cast(DType::i64).at<std::int64_t>({3}), INT64_MIN);
  EXPECT_TILE_EQ(floats.cast(DType::boolean), Tile::of<bool>({4}, {true, false, true, true}));
}

TEST(Tile, RandomTilesDependOnTheSeedAlone) {
  EXPECT_TILE_EQ(random_uniform(DType::f64, {100}, 1), random_uniform(DType::f64, {100}, 1));
  EXPECT_NE(random_uniform(DType::f64, {1}, 1).at<double>({0}),
            random_uniform(DType::f64, {1}, 2).at<double>({0}));
  const Tile integers = random_integers(DType::i64, {1000}, 5, -2, 3);
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_GE(integers.at<std::int64_t>({i}), -2);
    EXPECT_LT(integers.at<std::int64_t>({i}), 3);
  }
  const Tile sparse = random_sparse({DType::f64, {1000, 1000}, 1}, 9, 0.01);
  EXPECT_NEAR(static_cast<double>(sparse.stored()), 10000, 500);
  EXPECT_EQ(random_sparse({DType::boolean, {20, 20}, 2}, 9, 1).stored(), 400);
  EXPECT_EQ(random_sparse({DType::i64, {20, 20}, 2}, 9, 0).stored(), 0);
}

TEST(Tile, PromotesAndBroadcastsLikeNumPy) {
  EXPECT_EQ(promote(DType::boolean, DType::i64), DType::i64);
  EXPECT_EQ(promote(DType::i64, DType::f32), DType::f64);
  EXPECT_EQ(promote(DType::boolean, DType::f32), DType::f32);
  EXPECT_EQ(broadcast_shapes({3, 1}, {2, 1, 4}), Shape({2, 3, 4}));
  EXPECT_EQ(broadcast_shapes({0}, {1}), Shape({0}));
  EXPECT_ERROR(TypeError, broadcast_shapes({2, 3}, {4, 3}),
               "shapes [2x3] and [4x3] cannot be broadcast together: 2 != 4");
}

TEST(Tile, RefusesBadShapes) {
  EXPECT_ERROR(TypeError, Tile::of<double>({2, 2}, {1, 2, 3}),
               "a tile of shape [2x2] needs 4 values, not 3");
  EXPECT_ERROR(TypeError, iota({2, 3}).reshape({4, 2}),
               "f64[2x3] with 6 elements cannot be reshaped into [4x2]");
  EXPECT_ERROR(TypeError, iota({2, 3}).slice({0, 0}, {2, 4}),
               "slice [0x0] to [2x4] with step 1 is out of bounds for f64[2x3]");
  EXPECT_ERROR(TypeError, iota({2, 3}).permute({0, 0}),
               "axes [0, 0] are not a permutation of the dimensions of f64[2x3]");
  EXPECT_ERROR(TypeError, Shape(9, 1), "at most 8 dimensions, not 9");
  EXPECT_ERROR(TypeError, iota({2}).data<float>(), "the elements of f64[2] cannot be read as f32");
  EXPECT_ERROR(TypeError, Tile::zeros(DType::f64, {-1}),
               "shape [-1]: negative dimensions are not allowed");
  EXPECT_ERROR(TypeError, (Shape{INT64_MAX, 3}.elements()), "more than 2^63 elements");
  EXPECT_ERROR(TypeError, iota({2, 2}).at<double>({0, 2}),
               "index [0x2] is out of bounds for f64[2x2]");
  EXPECT_ERROR(TypeError, parse_dtype("f16"), "'f16' is not a dtype: use f32, f64, i64 or bool");
}

TEST(Tile, RunningOutOfMemorySaysHowMuchWasAskedFor) {
  EXPECT_ERROR(OutOfMemory, Tile::zeros(DType::f64, {std::int64_t{1} << 45, 1024}),
               "a tile of f64[35184372088832x1024] needs 288230376151711744 bytes");
}

TEST(Tile, PrintsLikeNumPy) {
  EXPECT_EQ(to_string(Tile::of<double>({2, 2}, {1, 2.5, -3, 4})), "[[ 1.   2.5]\n [-3.   4. ]]");
  EXPECT_EQ(to_string(Tile::of<double>({3}, {1e-10, 1, 1e9})), "[1.e-10 1.e+00 1.e+09]");
  EXPECT_EQ(to_string(Tile::of<double>({3}, {NAN, -INFINITY, 1})), "[ nan -inf   1.]");
  EXPECT_EQ(to_string(Tile::of<bool>({2}, {true, false})), "[ True False]");
  EXPECT_EQ(to_string(Tile::scalar<std::int64_t>(7)), "7");
  EXPECT_EQ(to_string(iota({2000})),
            "[1.000e+00 2.000e+00 3.000e+00 ... 1.998e+03 1.999e+03 2.000e+03]");
  EXPECT_EQ(to_string(Tile::zeros(DType::f64, {0, 3})), "[]");
  EXPECT_EQ(to_string(Tile::of<double>({2, 2}, {0, 1, 0, 0}).with_sparse_dims(1)),
            "f64[2](2), 1 stored\n  (0, 1)\t1.0");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Tile, MoreThanTwoToTheThirtyOneElements) {
  const std::int64_t rows = (std::int64_t{1} << 31) / 1024 + 1;
  MutableTile big = MutableTile::zeros(DType::boolean, {rows, 1024});
  big.data<bool>()[rows * 1024 - 1] = true;
  const Tile tile = std::move(big).publish();
  EXPECT_EQ(tile.elements(), (std::int64_t{1} << 31) + 1024);
  EXPECT_TRUE(tile.at<bool>({rows - 1, 1023}));
  EXPECT_TRUE(tile.transpose().at<bool>({1023, rows - 1}));
  const Tile sparse = tile.with_sparse_dims(2);
  EXPECT_EQ(sparse.stored(), 1);
  EXPECT_EQ(sparse.coordinates()[0], rows * 1024 - 1);
  EXPECT_TRUE(tile.slice({rows - 1, 1023}, {rows, 1024}).at<bool>({0, 0}));
}
#endif

}  // namespace
}  // namespace tessera
