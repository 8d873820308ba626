#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/expectations.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

constexpr DType floats[] = {DType::f32, DType::f64};

double tolerance(DType dtype) { return dtype == DType::f32 ? 2e-4 : 1e-10; }

/// a b by its definition, for matrices and in doubles.
Tile product(const Tile& a, const Tile& b) {
  const Tile left = a.cast(DType::f64);
  const Tile right = b.cast(DType::f64);
  const std::int64_t inner = a.shape()[1];
  const std::int64_t columns = b.shape()[1];
  std::vector<double> values(a.shape()[0] * columns, 0);
  for (std::int64_t i = 0; i < a.shape()[0]; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t k = 0; k < inner; ++k)
        values[i * columns + j] +=
            left.data<double>()[i * inner + k] * right.data<double>()[k * columns + j];
  return Tile::of<double>({a.shape()[0], columns}, values);
}

Tile identity(std::int64_t n) {
  std::vector<double> values(n * n, 0);
  for (std::int64_t i = 0; i < n; ++i) values[i * n + i] = 1;
  return Tile::of<double>({n, n}, values);
}

double distance(const Tile& a, const Tile& b) {
  EXPECT_EQ(a.shape(), b.shape());
  const Tile x = a.cast(DType::f64);
  const Tile y = b.cast(DType::f64);
  double largest = 0;
  for (std::int64_t i = 0; i < x.elements(); ++i)
    largest = std::max(largest, std::abs(x.data<double>()[i] - y.data<double>()[i]));
  return largest;
}

/// Well conditioned: random with a heavy diagonal.
Tile regular(DType dtype, std::int64_t n, std::uint64_t seed = 1) {
  const Tile noise = random_normal(DType::f64, {n, n}, seed);
  const Tile diagonal =
      KernelCall("diag")({Tile::full(DType::f64, {n}, 3.0 + static_cast<double>(n))});
  return KernelCall("add")({noise, diagonal}).cast(dtype);
}

Tile positive_definite(DType dtype, std::int64_t n) {
  const Tile a = regular(DType::f64, n);
  return product(a, a.transpose()).cast(dtype);
}

std::vector<TileType> types_of(const std::vector<Tile>& tiles) {
  std::vector<TileType> types;
  types.reserve(tiles.size());
  for (const Tile& tile : tiles) types.push_back(tile.type());
  return types;
}

/// The outputs, after a look at whether the types are the inferred ones.
std::vector<Tile> outputs(const KernelCall& call, const std::vector<Tile>& arguments) {
  std::vector<Tile> result = call.run(arguments);
  EXPECT_EQ(call.infer(types_of(arguments)), types_of(result));
  return result;
}

Tile only(const KernelCall& call, const std::vector<Tile>& arguments) {
  return outputs(call, arguments).at(0);
}

Tile matrix_of(const Tile& stack, std::int64_t i) {
  const Shape& shape = stack.shape();
  return stack.slice({i, 0, 0}, {i + 1, shape[1], shape[2]}).reshape({shape[1], shape[2]});
}

Tile stacked(const Tile& a, const Tile& b) {
  const auto lifted = [](const Tile& m) { return m.reshape({1, m.shape()[0], m.shape()[1]}); };
  return KernelCall("concat")({lifted(a), lifted(b)});
}

TEST(Inverse, TimesTheMatrixIsTheIdentity) {
  for (DType dtype : floats)
    for (std::int64_t n : {1, 2, 3, 10, 65}) {
      const Tile a = regular(dtype, n);
      EXPECT_LT(distance(product(only("inverse", {a}), a), identity(n)), tolerance(dtype));
      EXPECT_LT(distance(product(a.transpose(), only("inverse", {a.transpose()})), identity(n)),
                tolerance(dtype));
    }
}

TEST(Inverse, OfIntegersAndSparseTiles) {
  const Tile a = Tile::of<std::int64_t>({2, 2}, {2, 1, 0, 4});
  const Tile expected = Tile::of<double>({2, 2}, {0.5, -0.125, 0, 0.25});
  EXPECT_LT(distance(only("inverse", {a}), expected), 1e-15);
  EXPECT_LT(distance(only("inverse", {a.with_sparse_dims(1)}), expected), 1e-15);
  EXPECT_EQ(only("inverse", {a}).dtype(), DType::f64);
}

TEST(Inverse, OfEachMatrixOfAStack) {
  const Tile a = regular(DType::f64, 4, 1);
  const Tile b = regular(DType::f64, 4, 2);
  const Tile inverses = only("inverse", {stacked(a, b)});
  EXPECT_LT(distance(product(matrix_of(inverses, 0), a), identity(4)), 1e-12);
  EXPECT_LT(distance(product(matrix_of(inverses, 1), b), identity(4)), 1e-12);
}

TEST(Inverse, OfASingularMatrixIsAnError) {
  const Tile a = Tile::of<double>({3, 3}, {1, 2, 3, 2, 4, 6, 0, 0, 1});
  EXPECT_ERROR(ValueError, only("inverse", {a}), "inverse: the 3x3 matrix is singular (pivot ");
  EXPECT_ERROR(ValueError, only("inverse", {Tile::zeros(DType::f32, {2, 2})}),
               "inverse: the 2x2 matrix is singular (pivot 1 is zero); add a multiple");
  EXPECT_ERROR(ValueError, only("inverse", {stacked(identity(3), a)}),
               "inverse: the 3x3 matrix 1 of a stack [2] is singular");
  EXPECT_ERROR(TypeError, only("inverse", {Tile::zeros(DType::f64, {2, 3})}),
               "inverse: f64[2x3] is not supported: its matrices must be square");
  EXPECT_ERROR(TypeError, only("inverse", {Tile::zeros(DType::f64, {2})}),
               "inverse: f64[2] is not supported: it must be a matrix");
}

TEST(Solve, VectorsAndMatrices) {
  for (DType dtype : floats) {
    const Tile a = regular(dtype, 7);
    const Tile b = random_normal(dtype, {7, 3}, 2);
    const Tile x = only("solve", {a, b});
    EXPECT_LT(distance(product(a, x), b), tolerance(dtype));
    const Tile column = b.slice({0, 1}, {7, 2}).reshape({7});
    const Tile y = only("solve", {a, column});
    EXPECT_EQ(y.shape(), (Shape{7}));
    EXPECT_LT(distance(product(a, y.reshape({7, 1})), column.reshape({7, 1})), tolerance(dtype));
    const Tile views = only("solve", {a.transpose(), b.transpose().contiguous().transpose()});
    EXPECT_LT(distance(product(a.transpose(), views), b), tolerance(dtype));
  }
}

TEST(Solve, BroadcastsStacks) {
  const Tile a = regular(DType::f64, 3, 1);
  const Tile c = regular(DType::f64, 3, 2);
  const Tile b = random_normal(DType::f32, {3, 2}, 3);
  const Tile many = only("solve", {stacked(a, c), b});
  EXPECT_EQ(many.shape(), (Shape{2, 3, 2}));
  EXPECT_LT(distance(product(a, matrix_of(many, 0)), b), 1e-12);
  EXPECT_LT(distance(product(c, matrix_of(many, 1)), b), 1e-12);
  const Tile same = only("solve", {a, stacked(b, b)});
  EXPECT_LT(distance(product(a, matrix_of(same, 1)), b), 1e-12);
  const Tile vector = Tile::of<std::int64_t>({3}, {1, 2, 3});
  EXPECT_EQ(only("solve", {stacked(a, c), vector}).shape(), (Shape{2, 3}));
}

TEST(Solve, Errors) {
  const Tile a = identity(3);
  EXPECT_ERROR(
      TypeError, only("solve", {a, Tile::zeros(DType::f64, {2})}),
      "solve: f64[3x3] and f64[2] do not match: the right-hand side must be a vector of 3");
  EXPECT_ERROR(TypeError, only("solve", {a, Tile::scalar(1.0)}),
               "solve: f64[3x3] and f64[] do not match");
  EXPECT_ERROR(TypeError, only("solve", {Tile::zeros(DType::f64, {3, 2}), a}), "must be square");
  EXPECT_ERROR(
      TypeError,
      only("solve", {Tile::zeros(DType::f64, {2, 3, 3}), Tile::zeros(DType::f64, {4, 3, 1})}),
      "solve: f64[2x3x3] and f64[4x3x1] cannot be broadcast together: the dimensions before the "
      "last two");
  EXPECT_ERROR(ValueError, only("solve", {Tile::zeros(DType::f64, {3, 3}), a}),
               "solve: the 3x3 matrix is singular (pivot 1 is zero)");
}

TEST(Cholesky, TimesItsTransposeIsTheMatrix) {
  for (DType dtype : floats)
    for (std::int64_t n : {1, 2, 5, 40}) {
      const Tile a = positive_definite(dtype, n);
      const Tile l = only("cholesky", {a});
      const auto scale = a.at<double>({0, 0});
      EXPECT_LT(distance(product(l, l.transpose()), a) / scale, tolerance(dtype));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i + 1; j < n; ++j) EXPECT_EQ(l.at<double>({i, j}), 0);
    }
}

TEST(Cholesky, ReadsTheLowerTriangleOnly) {
  const Tile a = Tile::of<double>({2, 2}, {4, NAN, 2, 5});
  EXPECT_TILE_EQ(only("cholesky", {a}), Tile::of<double>({2, 2}, {2, 0, 1, 2}));
}

TEST(Cholesky, Errors) {
  EXPECT_ERROR(
      ValueError, only("cholesky", {Tile::of<double>({2, 2}, {1, 2, 2, 1})}),
      "cholesky: the 2x2 matrix is not positive definite (its leading minor 2 is not positive)");
  EXPECT_ERROR(ValueError, only("cholesky", {Tile::of<float>({2, 2}, {NAN, 0, 0, 1})}),
               "not positive definite (its leading minor 1");
  EXPECT_ERROR(TypeError, only("cholesky", {Tile::zeros(DType::f64, {3, 2})}), "must be square");
}

void check_qr(const Tile& a, double allowed) {
  const std::vector<Tile> qr = outputs("qr", {a});
  const std::int64_t k = std::min(a.shape()[0], a.shape()[1]);
  EXPECT_LT(distance(product(qr[0], qr[1]), a), allowed);
  EXPECT_LT(distance(product(qr[0].transpose(), qr[0]), identity(k)), allowed);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < i; ++j) EXPECT_EQ(qr[1].at<double>({i, j}), 0);
}

TEST(QR, OrthonormalTimesTriangular) {
  for (DType dtype : floats)
    for (const Shape& shape : {Shape{1, 1}, Shape{6, 4}, Shape{4, 6}, Shape{5, 5}, Shape{50, 3}}) {
      const Tile a = random_normal(dtype, shape, 1);
      check_qr(a, tolerance(dtype));
      check_qr(a.transpose(), tolerance(dtype));
    }
  check_qr(Tile::zeros(DType::f64, {4, 3}), 1e-12);
  check_qr(Tile::of<bool>({2, 2}, {true, false, true, true}), 1e-12);
}

void check_svd(const Tile& a, double allowed) {
  const std::vector<Tile> usv = outputs("svd", {a});
  const std::int64_t k = std::min(a.shape()[0], a.shape()[1]);
  EXPECT_LT(distance(product(product(usv[0], KernelCall("diag")({usv[1]})), usv[2]), a), allowed);
  EXPECT_LT(distance(product(usv[0].transpose(), usv[0]), identity(k)), allowed);
  EXPECT_LT(distance(product(usv[2], usv[2].transpose()), identity(k)), allowed);
  for (std::int64_t i = 0; i < k; ++i) EXPECT_GE(usv[1].at<double>({i}), 0);
  for (std::int64_t i = 1; i < k; ++i)
    EXPECT_LE(usv[1].at<double>({i}), usv[1].at<double>({i - 1}));
}

TEST(SVD, OrthonormalDiagonalOrthonormal) {
  for (DType dtype : floats)
    for (const Shape& shape : {Shape{1, 1}, Shape{6, 4}, Shape{4, 6}, Shape{5, 5}, Shape{60, 3}}) {
      const Tile a = random_normal(dtype, shape, 1);
      check_svd(a, tolerance(dtype));
      check_svd(a.transpose(), tolerance(dtype));
    }
  check_svd(Tile::zeros(DType::f64, {4, 3}), 1e-12);
  check_svd(Tile::of<std::int64_t>({2, 3}, {1, 2, 3, 2, 4, 6}), 1e-12);
}

void check_eigh(const Tile& a, double allowed) {
  const std::vector<Tile> result = outputs("eigh", {a});
  const std::int64_t n = a.shape()[0];
  const Tile& vectors = result[1];
  EXPECT_LT(distance(product(a, vectors), product(vectors, KernelCall("diag")({result[0]}))),
            allowed);
  EXPECT_LT(distance(product(vectors.transpose(), vectors), identity(n)), allowed);
  for (std::int64_t i = 1; i < n; ++i)
    EXPECT_LE(result[0].at<double>({i - 1}), result[0].at<double>({i}));
}

TEST(Eigh, ValuesAndVectors) {
  for (DType dtype : floats)
    for (std::int64_t n : {1, 2, 7, 30}) {
      const Tile a = random_normal(dtype, {n, n}, 1);
      check_eigh(KernelCall("add")({a, a.transpose()}), tolerance(dtype));
    }
  check_eigh(Tile::zeros(DType::f64, {3, 3}), 1e-12);
}

TEST(Eigh, ReadsTheLowerTriangleOnly) {
  const Tile a = Tile::of<double>({2, 2}, {2, NAN, 1, 2});
  EXPECT_LT(distance(outputs("symmetric_eigen", {a})[0], Tile::of<double>({2}, {1, 3})), 1e-12);
}

TEST(Factorization, OfEachMatrixOfAStack) {
  const Tile a = random_normal(DType::f64, {4, 3}, 1);
  const Tile b = random_normal(DType::f64, {4, 3}, 2);
  const std::vector<Tile> qr = outputs("qr", {stacked(a, b)});
  EXPECT_LT(distance(product(matrix_of(qr[0], 1), matrix_of(qr[1], 1)), b), 1e-12);
  const std::vector<Tile> usv = outputs("svd", {stacked(a, b)});
  EXPECT_EQ(usv[1].shape(), (Shape{2, 3}));
  const Tile s = KernelCall("diag")({usv[1].slice({1, 0}, {2, 3}).reshape({3})});
  EXPECT_LT(distance(product(product(matrix_of(usv[0], 1), s), matrix_of(usv[2], 1)), b), 1e-12);
  const Tile c = positive_definite(DType::f64, 3);
  const Tile l = matrix_of(only("cholesky", {stacked(identity(3), c)}), 1);
  EXPECT_LT(distance(product(l, l.transpose()), c), 1e-10);
  const std::vector<Tile> eigen = outputs("eigh", {stacked(identity(3), c)});
  EXPECT_LT(distance(eigen[0].slice({0, 0}, {1, 3}), Tile::full(DType::f64, {1, 3}, 1)), 1e-12);
}

TEST(Factorization, OfEmptyMatrices) {
  for (DType dtype : floats) {
    const auto empty = [&](const Shape& shape) { return Tile::zeros(dtype, shape); };
    const auto shapes = [&](const char* kernel, const Shape& shape) {
      std::vector<Shape> result;
      for (const Tile& tile : outputs(kernel, {empty(shape)})) result.push_back(tile.shape());
      return result;
    };
    using Shapes = std::vector<Shape>;
    EXPECT_EQ(shapes("inverse", {0, 0}), Shapes({{0, 0}}));
    EXPECT_EQ(shapes("inverse", {0, 3, 3}), Shapes({{0, 3, 3}}));
    EXPECT_EQ(shapes("cholesky", {0, 0}), Shapes({{0, 0}}));
    EXPECT_EQ(shapes("qr", {0, 3}), Shapes({{0, 0}, {0, 3}}));
    EXPECT_EQ(shapes("qr", {3, 0}), Shapes({{3, 0}, {0, 0}}));
    EXPECT_EQ(shapes("svd", {0, 3}), Shapes({{0, 0}, {0}, {0, 3}}));
    EXPECT_EQ(shapes("svd", {3, 0}), Shapes({{3, 0}, {0}, {0, 0}}));
    EXPECT_EQ(shapes("eigh", {0, 0}), Shapes({{0}, {0, 0}}));
    EXPECT_EQ(only("solve", {empty({0, 0}), empty({0})}).shape(), (Shape{0}));
    EXPECT_EQ(only("solve", {empty({0, 0}), empty({0, 2})}).shape(), (Shape{0, 2}));
    EXPECT_EQ(only("solve", {identity(3), empty({3, 0})}).shape(), (Shape{3, 0}));
  }
}

/// NaN passes through eliminations; what needs to converge refuses it.
TEST(Factorization, OfNotANumber) {
  for (DType dtype : floats)
    for (double odd : {double{NAN}, std::numeric_limits<double>::infinity()}) {
      const Tile a = Tile::of<double>({3, 3}, {1, 0, 0, odd, 2, 0, 0, 1, 3}).cast(dtype);
      EXPECT_EQ(only("solve", {a, Tile::full(dtype, {3}, 1)}).shape(), (Shape{3}));
      EXPECT_EQ(only("inverse", {a}).shape(), (Shape{3, 3}));
      EXPECT_EQ(outputs("qr", {a}).size(), 2);
      EXPECT_ERROR(ValueError, outputs("svd", {a}), "svd: the 3x3 matrix has NaN or infinity");
      EXPECT_ERROR(ValueError, outputs("eigh", {a}), "eigh: the 3x3 matrix has NaN or infinity");
    }
  const Tile a = Tile::full(DType::f64, {3, 3}, NAN);
  EXPECT_TRUE(std::isnan(only("inverse", {a}).at<double>({1, 1})));
  EXPECT_ERROR(ValueError, only("cholesky", {a}), "not positive definite");
}

TEST(Factorization, CountsItsWork) {
  const auto flops = [](const char* kernel, const Shape& shape) {
    return KernelCall(kernel).cost(std::array{TileType{DType::f64, shape}}).flops;
  };
  EXPECT_EQ(flops("inverse", {30, 30}), 2.0 * 30 * 30 * 30);
  EXPECT_EQ(flops("cholesky", {2, 30, 30}), 2.0 * 30 * 30 * 30 / 3);
  EXPECT_GT(flops("svd", {50, 30}), flops("qr", {50, 30}));
  const std::array types = {TileType{DType::f64, {30, 30}}, TileType{DType::f64, {30, 2}}};
  EXPECT_EQ(KernelCall("solve").cost(types).flops, 2.0 * 30 * 30 * 30 / 3 + 2.0 * 30 * 30 * 2);
}

TEST(Factorization, TooLargeForLapack) {
  const auto infer = [](const char* kernel, const Shape& shape) {
    return KernelCall(kernel).infer(std::array{TileType{DType::f32, shape}});
  };
  EXPECT_ERROR(TypeError, infer("eigh", {40000, 40000}),
               "eigh: f32[40000x40000] is too large: LAPACK uses 32-bit sizes");
  EXPECT_ERROR(TypeError, infer("svd", {40000, 40000}), "svd: f32[40000x40000] is too large");
  EXPECT_ERROR(TypeError, infer("qr", {3000000000, 1}), "qr: f32[3000000000x1] is too large");
}

}  // namespace
}  // namespace tessera
