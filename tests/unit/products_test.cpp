#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernel/gemm.h"
#include "support/naive_product.h"
#include "support/special_values.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

TEST(Matmul, EveryLayoutAndDtype) {
  for (DType left : dtypes)
    for (DType right : dtypes) {
      const Tile x = random_matrix(left, 5, 7, 1);
      const Tile y = random_matrix(right, 7, 6, 2);
      const Tile expected = triple_loop(x, y);
      for (const Laid& a : layouts(x))
        for (const Laid& b : layouts(y)) {
          SCOPED_TRACE(a.how + " times " + b.how);
          const Tile product = KernelCall("matmul")({a.tile, b.tile});
          EXPECT_TILE_EQ(product, expected);
          if (product.is_sparse()) {
            EXPECT_EQ(product.stored(), expected.with_sparse_dims(1).stored());
          }
        }
    }
}

TEST(Matmul, TransposeFlagsInEveryLayout) {
  for (DType dtype : dtypes) {
    const Tile x = random_matrix(dtype, 5, 7, 3);
    const Tile y = random_matrix(dtype, 6, 5, 4);
    const Tile expected = triple_loop(x.transpose(), y.transpose());
    for (const Laid& a : layouts(x))
      for (const Laid& b : layouts(y)) {
        SCOPED_TRACE(a.how + " times " + b.how);
        EXPECT_TILE_EQ(KernelCall("matmul(transpose_a=true, transpose_b=true)")({a.tile, b.tile}),
                       expected);
        EXPECT_TILE_EQ(KernelCall("matmul(transpose_a=true)")({a.tile, b.tile.transpose()}),
                       expected);
        EXPECT_TILE_EQ(KernelCall("matmul(transpose_b=true)")({a.tile.transpose(), b.tile}),
                       expected);
      }
  }
}

/// Widths around those of vector registers and of the blocks that loops work in.
TEST(Matmul, EveryWidth) {
  for (DType dtype : dtypes)
    for (std::int64_t n : {1, 2, 3, 4, 8, 31, 32, 33, 64, 65, 127, 300, 513}) {
      SCOPED_TRACE(std::string(to_string(dtype)) + " of width " + std::to_string(n));
      const Tile narrow = random_matrix(dtype, 6, 9, 5);
      const Tile wide = random_matrix(dtype, 9, n, 6);
      const Tile expected = triple_loop(narrow, wide);
      const Tile across = expected.transpose();
      for (int dims : {0, 1}) {
        const Tile a = narrow.with_sparse_dims(dims);
        EXPECT_TILE_EQ(KernelCall("matmul")({a, wide}), expected);
        EXPECT_TILE_EQ(KernelCall("matmul(transpose_b=true)")({a, wide.transpose()}), expected);
        EXPECT_TILE_EQ(KernelCall("matmul")({wide.transpose(), a.transpose()}), across);
        EXPECT_TILE_EQ(KernelCall("matmul(transpose_a=true, transpose_b=true)")({wide, a}), across);
      }
    }
}

TEST(Matmul, BroadcastOperandsWithStridesOfZero) {
  const Tile row = Tile::of<double>({1, 3}, {1, 2, 3});
  const Tile a = row.broadcast({4, 3});
  const Tile b = row.transpose().broadcast({3, 2});
  EXPECT_TILE_EQ(KernelCall("matmul")({a, b}), Tile::full(DType::f64, {4, 2}, 14));
}

TEST(Matmul, VectorsAreRowsOrColumns) {
  for (DType dtype : dtypes)
    for (int dims : {0, 1})
      for (int vector_dims : {0, 1}) {
        const Tile matrix = random_matrix(dtype, 4, 4, 7);
        const Tile row = random_matrix(dtype, 1, 4, 8);
        const Tile a = matrix.with_sparse_dims(dims);
        const Tile v = row.reshape({4}).with_sparse_dims(vector_dims);
        EXPECT_TILE_EQ(KernelCall("matmul")({v, a}), triple_loop(row, matrix).reshape({4}));
        EXPECT_TILE_EQ(KernelCall("matmul(transpose_b=true)")({v, a}),
                       triple_loop(row, matrix.transpose()).reshape({4}));
        EXPECT_TILE_EQ(KernelCall("matmul")({a, v}),
                       triple_loop(matrix, row.transpose()).reshape({4}));
        EXPECT_TILE_EQ(KernelCall("matmul(transpose_a=true)")({a, v}),
                       triple_loop(matrix.transpose(), row.transpose()).reshape({4}));
        EXPECT_TILE_EQ(KernelCall("matmul")({v, v}), triple_loop(row, row.transpose()).reshape({}));
      }
}

TEST(Matmul, LeadingDimensionsBroadcast) {
  const KernelCall matmul("matmul");
  for (DType dtype : dtypes)
    for (int dims : {0, 1, 2, 3}) {
      const Tile a = random_matrix(dtype, 24, 5, 9).reshape({3, 2, 4, 5});
      const Tile b = random_matrix(dtype, 15, 6, 10).reshape({3, 1, 5, 6});
      const Tile product = matmul({a.with_sparse_dims(dims), b});
      const Tile same = matmul({a, b.with_sparse_dims(dims)});
      const Tile both = matmul({a.with_sparse_dims(dims), b.with_sparse_dims(dims)});
      ASSERT_EQ(product.shape(), Shape({3, 2, 4, 6}));
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 2; ++j) {
          const auto matrix = [&](const Tile& tile, std::int64_t second) {
            return tile
                .slice({i, second, 0, 0}, {i + 1, second + 1, tile.shape()[2], tile.shape()[3]})
                .reshape({tile.shape()[2], tile.shape()[3]});
          };
          const Tile expected = triple_loop(matrix(a, j), matrix(b, 0));
          EXPECT_TILE_EQ(matrix(product, j), expected);
          EXPECT_TILE_EQ(matrix(same, j), expected);
          EXPECT_TILE_EQ(matrix(both, j), expected);
        }
    }
}

TEST(Matmul, ManyMatricesTimesOne) {
  const Tile a = random_matrix(DType::f64, 6, 5, 11);
  const Tile b = random_matrix(DType::f64, 5, 4, 12);
  const Tile expected = triple_loop(a, b).reshape({2, 3, 4});
  const Tile stack = a.reshape({2, 3, 5});
  EXPECT_TILE_EQ(KernelCall("matmul")({stack, b}), expected);
  EXPECT_TILE_EQ(
      KernelCall("matmul")({stack.permute({1, 0, 2}).contiguous().permute({1, 0, 2}), b}),
      expected);
  EXPECT_TILE_EQ(KernelCall("matmul(transpose_a=true)")({stack.permute({0, 2, 1}).contiguous(), b}),
                 expected);
  EXPECT_TILE_EQ(KernelCall("matmul")({stack, b.slice({0, 0}, {5, 1}).reshape({5})}),
                 expected.slice({0, 0, 0}, {2, 3, 1}).reshape({2, 3}));
}

TEST(Matmul, ExtentsOfZero) {
  for (DType dtype : dtypes)
    for (int a_dims : {0, 1, 2})
      for (int b_dims : {0, 1, 2}) {
        const auto product = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
          return KernelCall("matmul")(
              {Tile::zeros(dtype, {m, k}, a_dims), Tile::zeros(dtype, {k, n}, b_dims)});
        };
        EXPECT_TILE_EQ(product(2, 0, 3), Tile::zeros(dtype, {2, 3}));
        EXPECT_TILE_EQ(product(0, 2, 3), Tile::zeros(dtype, {0, 3}));
        EXPECT_TILE_EQ(product(2, 3, 0), Tile::zeros(dtype, {2, 0}));
        EXPECT_TILE_EQ(product(0, 0, 0), Tile::zeros(dtype, {0, 0}));
      }
}

TEST(Matmul, WhatIsNotStoredAnnihilatesEvenNaN) {
  const Tile dense = Tile::of<double>({2, 2}, {nan, infinity, 1, 2});
  const Tile diagonal = Tile::of<double>({2, 2}, {0, 0, 0, 3});
  for (int dims : {1, 2}) {
    const Tile sparse = diagonal.with_sparse_dims(dims);
    EXPECT_TILE_EQ(KernelCall("matmul")({sparse, dense}), Tile::of<double>({2, 2}, {0, 0, 3, 6}));
    EXPECT_TILE_EQ(KernelCall("matmul")({dense, sparse}),
                   Tile::of<double>({2, 2}, {0, infinity, 0, 6}));
    EXPECT_TILE_EQ(KernelCall("matmul")({sparse, dense.with_sparse_dims(1)}),
                   Tile::of<double>({2, 2}, {0, 0, 3, 6}));
  }
  EXPECT_TRUE(std::isnan(KernelCall("matmul")({diagonal, dense}).at<double>({0, 0})));
}

TEST(Matmul, IntegersWrap) {
  constexpr std::int64_t big = std::int64_t{1} << 62;
  const Tile a = Tile::of<std::int64_t>({1, 2}, {big, big});
  const Tile b = Tile::of<std::int64_t>({2, 1}, {1, 1});
  for (int dims : {0, 1})
    EXPECT_EQ(KernelCall("matmul")({a.with_sparse_dims(dims), b}).at<std::int64_t>({0, 0}),
              std::numeric_limits<std::int64_t>::min());
}

TEST(Matmul, SparseResultsAreRowsInOrderWithoutZeros) {
  const Tile a = Tile::of<double>({2, 3}, {1, 1, 0, 2, 0, 1}).with_sparse_dims(1);
  const Tile b =
      Tile::of<double>({3, 4}, {0, 5, 0, 1, 3, -5, 0, 0, 0, 0, 7, nan}).with_sparse_dims(2);
  const Tile product = KernelCall("matmul")({a, b});
  EXPECT_EQ(to_string(product.type()), "f64[2](4)");
  EXPECT_TILE_EQ(product, Tile::of<double>({2, 4}, {3, 0, 0, 1, 0, 10, 7, nan}));
  EXPECT_EQ(product.stored(), 5);
  EXPECT_FALSE(product.is_stored({0, 1})) << "5 - 5 is an exact zero";
  EXPECT_TRUE(product.is_stored({1, 3})) << "NaN is not";
}

/// 0.1 * 0.3 is rounded: a fused multiply-add would leave the error of the rounding behind.
TEST(Matmul, ProductsOfSparseMatricesCancelExactly) {
  for (std::int64_t columns : {1, 20}) {
    const Tile a = Tile::of<double>({1, 2}, {0.1, -0.1}).with_sparse_dims(1);
    const Tile b = Tile::full(DType::f64, {2, columns}, 0.3).with_sparse_dims(1);
    EXPECT_EQ(KernelCall("matmul")({a, b}).stored(), 0);
  }
}

/// More columns than products: sums are sorted instead of kept in an array of the row.
TEST(Matmul, VeryWideSparseResults) {
  const std::int64_t wide = std::int64_t{1} << 40;
  const std::int64_t inner = 10;
  for (DType dtype : dtypes) {
    const Tile a = Tile::full(dtype, {2, inner}, 1).with_sparse_dims(1);
    SparseBuilder builder({dtype, {inner, wide}, 1});
    visit_dtype(dtype, [&]<class T>() {
      for (std::int64_t k = 0; k < inner; ++k) {
        builder.add(k, wide - 100 - k, T{1});
        builder.add(k, wide - 1, T{1});
      }
    });
    const Tile product = KernelCall("matmul")({a, std::move(builder).publish()});
    EXPECT_EQ(product.stored(), 2 * (inner + 1));
    EXPECT_EQ(product.at<double>({1, wide - 100}), 1);
    EXPECT_EQ(product.at<double>({1, wide - 109}), 1);
    EXPECT_EQ(product.at<double>({1, wide - 1}), dtype == DType::boolean ? 1 : inner);
  }
}

/// Enough columns for many blocks of the accumulator, most of which stay untouched.
TEST(Matmul, SparseSquareAgreesWithDense) {
  for (DType dtype : dtypes) {
    const Tile a = random_sparse({DType::boolean, {10, 9000}, 1}, 13, 0.01).cast(dtype);
    const Tile b = random_sparse({DType::boolean, {9000, 9000}, 1}, 14, 0.0005).cast(dtype);
    const Tile sparse = KernelCall("matmul")({a, b});
    MutableTile dense = MutableTile::zeros(dtype, {10, 9000});
    KernelCall("matmul").accumulate(dense, std::vector{a, b});
    EXPECT_TRUE(sparse.is_sparse());
    EXPECT_TILE_EQ(sparse, std::move(dense).publish());
  }
}

TEST(Matmul, LayoutOfTheResultIsInferred) {
  const auto layout = [](const TileType& a, const TileType& b) {
    return to_string(KernelCall("matmul").infer(std::vector{a, b})[0]);
  };
  const DType f64 = DType::f64;
  EXPECT_EQ(layout({f64, {2, 3}, 0}, {f64, {3, 4}, 0}), "f64[2x4]");
  EXPECT_EQ(layout({f64, {2, 3}, 1}, {f64, {3, 4}, 0}), "f64[2x4]");
  EXPECT_EQ(layout({f64, {2, 3}, 0}, {f64, {3, 4}, 1}), "f64[2x4]");
  EXPECT_EQ(layout({f64, {2, 3}, 1}, {f64, {3, 4}, 1}), "f64[2](4)");
  EXPECT_EQ(layout({f64, {2, 3}, 2}, {f64, {3, 4}, 2}), "f64[](2x4)");
  EXPECT_EQ(layout({f64, {3}, 1}, {f64, {3, 4}, 1}), "f64[](4)");
  EXPECT_EQ(layout({f64, {2, 3}, 1}, {f64, {3}, 1}), "f64[](2)");
  EXPECT_EQ(layout({f64, {3}, 1}, {f64, {3}, 1}), "f64[]");
  EXPECT_EQ(layout({f64, {5, 2, 3}, 1}, {f64, {3, 4}, 1}), "f64[5x2x4]");
  EXPECT_EQ(layout({DType::f32, {2, 3}, 0}, {DType::i64, {3, 4}, 0}), "f64[2x4]");
}

TEST(Matmul, AccumulateAddsTheProduct) {
  const KernelCall matmul("matmul");
  for (DType dtype : dtypes) {
    const Tile before = random_matrix(dtype, 6, 9, 17);
    const Tile x = random_matrix(dtype, 6, 5, 15);
    const Tile y = random_matrix(dtype, 5, 9, 16);
    const Tile expected = added(before, triple_loop(x, y));
    for (const Laid& a : layouts(x))
      for (const Laid& b : layouts(y)) {
        SCOPED_TRACE(a.how + " times " + b.how);
        MutableTile accumulator = MutableTile::copy_of(before);
        matmul.accumulate(accumulator, std::vector{a.tile, b.tile});
        EXPECT_TILE_EQ(std::move(accumulator).publish(), expected);
      }
  }
}

TEST(Matmul, ImplementationsByLayout) {
  const auto name = [](int a, int b) {
    const std::vector<TileType> types = {{DType::f64, {2, 3}, a}, {DType::f64, {3, 4}, b}};
    return KernelCall("matmul").implementation(types).name;
  };
  EXPECT_EQ(name(0, 0), "cblas_gemm");
  EXPECT_EQ(name(1, 0), "sparse_dense");
  EXPECT_EQ(name(0, 2), "dense_sparse");
  EXPECT_EQ(name(1, 2), "gustavson");
}

TEST(Matmul, CountsFlopsAndBytes) {
  const std::vector<TileType> types = {{DType::f64, {5, 2, 3}, 0}, {DType::f64, {3, 4}, 0}};
  const Cost cost = KernelCall("matmul").cost(types);
  EXPECT_EQ(cost.flops, 2 * 5 * 2 * 3 * 4);
  EXPECT_EQ(cost.bytes, 8 * (5 * 2 * 3 + 3 * 4 + 5 * 2 * 4));
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  const auto infer = [](const char* call, const Shape& a, const Shape& b) {
    return KernelCall(call).infer(std::vector<TileType>{{DType::f64, a, 0}, {DType::f64, b, 0}});
  };
  EXPECT_ERROR(TypeError, infer("matmul", {2, 3}, {4, 5}),
               "matmul: f64[2x3] and f64[4x5] cannot be multiplied: 3 != 4");
  EXPECT_ERROR(TypeError, infer("matmul(transpose_a=true)", {2, 3}, {3, 5}),
               "matmul: f64[2x3] transposed and f64[3x5] cannot be multiplied");
  EXPECT_ERROR(TypeError, infer("matmul", {}, {4, 5}), "a scalar has no rows or columns; use mul");
  EXPECT_ERROR(TypeError, infer("matmul(transpose_b=true)", {2, 3}, {3}),
               "a vector cannot be transposed");
  EXPECT_ERROR(TypeError, infer("matmul", {2, 4, 3}, {5, 3, 4}),
               "the leading dimensions [2] and [5] cannot be broadcast together");
  EXPECT_ERROR(TypeError, infer("batched_matmul", {2, 4, 3}, {1, 3, 4}),
               "batched_matmul: f64[2x4x3] and f64[1x3x4] do not match");
  EXPECT_ERROR(TypeError, infer("batched_matmul", {4, 3}, {3, 4}), "at least one");
}

TEST(BatchedMatmul, MultipliesMatrixByMatrix) {
  for (DType dtype : dtypes)
    for (int dims : {0, 1, 3}) {
      const Tile a = random_matrix(dtype, 6, 4, 18).reshape({2, 3, 4}).with_sparse_dims(dims);
      const Tile b = random_matrix(dtype, 10, 4, 19).reshape({2, 5, 4});
      const Tile product = KernelCall("batched_matmul(transpose_b=true)")({a, b});
      MutableTile twice = MutableTile::copy_of(product);
      KernelCall("batchMatMul(transpose_b=true)").accumulate(twice, std::vector{a, b});
      EXPECT_TILE_EQ(std::move(twice).publish(), added(product, product));
      for (std::int64_t i = 0; i < 2; ++i)
        EXPECT_TILE_EQ(product.slice({i, 0, 0}, {i + 1, 3, 5}).reshape({3, 5}),
                       triple_loop(a.slice({i, 0, 0}, {i + 1, 3, 4}).reshape({3, 4}),
                                   b.slice({i, 0, 0}, {i + 1, 5, 4}).reshape({5, 4}).transpose()));
    }
}

TEST(Gemm, OverwriteDoesNotReadWhatIsThere) {
  const std::vector<double> ones(16, 1);
  for (std::int64_t m : {1, 4})
    for (std::int64_t n : {1, 4}) {
      std::vector<double> c(m * n, nan);
      gemm<double>({ones.data(), m, 4, 4, 1}, {ones.data(), 4, n, n, 1}, c.data(),
                   Update::overwrite);
      EXPECT_EQ(c, std::vector<double>(m * n, 4));
      gemm<double>({ones.data(), m, 0, 4, 1}, {ones.data(), 0, n, n, 1}, c.data(),
                   Update::accumulate);
      EXPECT_EQ(c, std::vector<double>(m * n, 4));
      gemm<double>({ones.data(), m, 0, 4, 1}, {ones.data(), 0, n, n, 1}, c.data(),
                   Update::overwrite);
      EXPECT_EQ(c, std::vector<double>(m * n, 0));
    }
}

/// A BLAS counts in 32 bits. With a limit of 3 instead, small matrices show that what is larger,
/// extents and distances between rows alike, is cut right.
TEST(Gemm, CutsWhatIsTooLargeForABlas) {
  for (std::int64_t m : {1, 2, 7})
    for (std::int64_t k : {1, 3, 8})
      for (std::int64_t n : {1, 2, 5})
        for (const Laid& a : layouts(random_matrix(DType::f64, m, k, 20)))
          for (const Laid& b : layouts(random_matrix(DType::f64, k, n, 21))) {
            if (a.tile.is_sparse() || b.tile.is_sparse()) continue;
            SCOPED_TRACE(a.how + " times " + b.how);
            const auto view = [](const Tile& tile) {
              return MatrixView<double>{tile.data<double>(), tile.shape()[0], tile.shape()[1],
                                        tile.strides()[0], tile.strides()[1]};
            };
            MutableTile c = MutableTile::copy_of(Tile::full(DType::f64, {m, n}, nan));
            gemm(view(a.tile), view(b.tile), c.data<double>(), Update::overwrite, 3);
            gemm(view(a.tile), view(b.tile), c.data<double>(), Update::accumulate, 3);
            const Tile once = triple_loop(a.tile, b.tile);
            EXPECT_TILE_EQ(std::move(c).publish(), added(once, once));
          }
}

/// A matrix times its own transpose: half is computed and mirrored, also onto what was there.
TEST(Gemm, WithItsOwnTransposeIsSymmetric) {
  const auto check = []<class T>(T, std::int64_t rows, std::int64_t columns, bool across) {
    SCOPED_TRACE(fmt::format("{}x{}{}", rows, columns, across ? " across" : ""));
    const Tile stored =
        random_uniform(dtype_of<T>, {across ? columns : rows, across ? rows : columns}, 5);
    const Tile a = across ? stored.transpose() : stored;
    const auto view = [](const Tile& tile) {
      return MatrixView<T>{tile.data<T>(), tile.shape()[0], tile.shape()[1], tile.strides()[0],
                           tile.strides()[1]};
    };
    const Tile other = MutableTile::copy_of(a.transpose()).publish();
    std::vector<T> expected(rows * rows, 1), found(rows * rows, 1);
    T most = 0;
    for (const Update update : {Update::overwrite, Update::accumulate}) {
      gemm(view(a), view(other), expected.data(), update);
      gemm(view(a), view(a.transpose()), found.data(), update);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < rows; ++j) {
          most = std::max(most, std::abs(found[i * rows + j] - expected[i * rows + j]));
          ASSERT_EQ(found[i * rows + j], found[j * rows + i]);
        }
    }
    EXPECT_LE(most, static_cast<double>(columns) * 4 * std::numeric_limits<T>::epsilon());
    // What is not symmetric is added to as it is.
    found[rows - 1] += 1;
    expected[rows - 1] += 1;
    gemm(view(a), view(other), expected.data(), Update::accumulate);
    gemm(view(a), view(a.transpose()), found.data(), Update::accumulate);
    EXPECT_NEAR(found[rows - 1] - found[(rows - 1) * rows], 1, 1e-3);
    EXPECT_NEAR(found[rows - 1], expected[rows - 1], 1e-3);
  };
  for (const bool across : {false, true})
    for (const auto& [rows, columns] : {std::pair{33, 40}, {64, 33}, {1000, 37}, {863, 900}}) {
      check(double{}, rows, columns, across);
      check(float{}, rows, columns, across);
    }
}

}  // namespace
}  // namespace tessera
