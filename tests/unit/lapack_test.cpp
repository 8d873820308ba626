#include "kernel/lapack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/stop.h"
#include "support/database_folder.h"
#include "tessera/tile.h"

// Factorizations in blocks, which large ones are cut into, on small ones.

namespace tessera {
namespace {

using lapack::Cuts;

constexpr Cuts in_one = {};
constexpr Cuts in_blocks = {.work = 1, .width = 4};
constexpr std::int64_t orders[] = {1, 2, 3, 4, 5, 8, 17, 33, 70, 131};

template <class T>
struct Matrix {
  std::int64_t rows, columns;
  std::vector<T> elements;  // column-major

  Matrix(std::int64_t m, std::int64_t n) : rows(m), columns(n), elements(m * n, T{}) {}
  T& operator()(std::int64_t i, std::int64_t j) { return elements[i + j * rows]; }
  T operator()(std::int64_t i, std::int64_t j) const { return elements[i + j * rows]; }
  T* data() { return elements.data(); }
};

template <class T>
Matrix<T> random_matrix(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  Matrix<T> made(m, n);
  const Tile noise = random_normal(dtype_of<T>, {m * n}, seed);
  std::copy_n(noise.data<T>(), m * n, made.data());
  return made;
}

template <class T>
Matrix<T> transposed(const Matrix<T>& a) {
  Matrix<T> made(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) made(j, i) = a(i, j);
  return made;
}

template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> made(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j)
      for (std::int64_t k = 0; k < a.columns; ++k) made(i, j) += a(i, k) * b(k, j);
  return made;
}

template <class T>
double distance(const Matrix<T>& a, const Matrix<T>& b) {
  EXPECT_EQ(a.elements.size(), b.elements.size());
  double most = 0, size = 1;
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    most = std::max(most, std::abs(double{a.elements[i]} - double{b.elements[i]}));
    size = std::max(size, std::abs(double{b.elements[i]}));
  }
  return most / size;
}

template <class T>
Matrix<T> identity(std::int64_t n) {
  Matrix<T> made(n, n);
  for (std::int64_t i = 0; i < n; ++i) made(i, i) = 1;
  return made;
}

template <class T>
class Blocks : public ::testing::Test {
 protected:
  static constexpr double near = std::is_same_v<T, float> ? 2e-4 : 1e-11;
};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Blocks, Floats);

TYPED_TEST(Blocks, Inverse) {
  using T = TypeParam;
  for (const std::int64_t n : orders) {
    const Matrix<T> a = random_matrix<T>(n, n, 1);
    Matrix<T> inverse = a;
    ASSERT_EQ(lapack::invert(n, inverse.data(), in_blocks), 0);
    EXPECT_LT(distance(product(a, inverse), identity<T>(n)), 50 * this->near) << n;
  }
}

TYPED_TEST(Blocks, SolutionsAndWhereTheyBreakDown) {
  using T = TypeParam;
  for (const std::int64_t n : orders) {
    const Matrix<T> row_major = random_matrix<T>(n, n, 2);
    const Matrix<T> a = transposed(row_major);  // as LAPACK reads it
    const Matrix<T> x = random_matrix<T>(n, 11, 3);
    Matrix<T> found = product(a, x), factors = row_major;
    ASSERT_EQ(lapack::solve(n, 11, factors.data(), found.data(), in_blocks), 0);
    EXPECT_LT(distance(found, x), 50 * this->near) << n;

    Matrix<T> singular = random_matrix<T>(n, n, 4);
    const std::int64_t zero = n / 2;
    for (std::int64_t i = 0; i < n; ++i) singular(i, zero) = 0;
    Matrix<T> same = singular;
    const int expected = lapack::solve(n, 11, same.data(), found.data(), in_one);
    EXPECT_EQ(lapack::solve(n, 11, singular.data(), found.data(), in_blocks), expected);
    EXPECT_GT(expected, 0);
  }
}

TYPED_TEST(Blocks, Cholesky) {
  using T = TypeParam;
  for (const std::int64_t n : orders) {
    const Matrix<T> root = random_matrix<T>(n, n, 5);
    Matrix<T> a = product(transposed(root), root);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) += static_cast<T>(n);
    Matrix<T> factor = a, same = a;
    ASSERT_EQ(lapack::cholesky(n, factor.data(), in_blocks), 0);
    EXPECT_LT(distance(product(transposed(factor), factor), a), this->near) << n;
    same(n / 2, n / 2) = -1;
    factor = same;
    EXPECT_EQ(lapack::cholesky(n, factor.data(), in_blocks),
              lapack::cholesky(n, same.data(), in_one));
  }
}

TYPED_TEST(Blocks, Qr) {
  using T = TypeParam;
  for (const std::int64_t m : orders)
    for (const std::int64_t n : orders) {
      const std::int64_t k = std::min(m, n);
      const Matrix<T> a = random_matrix<T>(m, n, 6);
      Matrix<T> used = a, q(m, k), r(n, k);  // r is row-major
      lapack::qr(m, n, used.data(), q.data(), r.data(), in_blocks);
      EXPECT_LT(distance(product(q, transposed(r)), a), this->near) << m << " x " << n;
      EXPECT_LT(distance(product(transposed(q), q), identity<T>(k)), this->near) << m << " x " << n;
      for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j < std::min(i, n); ++j) EXPECT_EQ(r(j, i), 0);
    }
}

TYPED_TEST(Blocks, SingularValues) {
  using T = TypeParam;
  for (const Cuts& cuts : {in_one, in_blocks})
    for (const std::int64_t n : orders)
      for (const std::int64_t m : {n, n + 1, n + n / 2, 2 * n, 3 * n + 5})
        for (const double scale : {1.0, std::is_same_v<T, float> ? 1e-35 : 1e-300,
                                   std::is_same_v<T, float> ? 1e30 : 1e290}) {
          const Matrix<T> a = random_matrix<T>(m, n, 7);
          Matrix<T> used = a, u(m, n), vt(n, n);
          for (T& element : used.elements) element *= static_cast<T>(scale);
          std::vector<T> s(n);
          ASSERT_EQ(lapack::svd(m, n, used.data(), u.data(), s.data(), vt.data(), cuts), 0);
          EXPECT_TRUE(std::is_sorted(s.rbegin(), s.rend()));
          EXPECT_LT(distance(product(transposed(u), u), identity<T>(n)), this->near);
          EXPECT_LT(distance(product(vt, transposed(vt)), identity<T>(n)), this->near);
          Matrix<T> scaled = u;
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i)
              scaled(i, j) *= static_cast<T>(static_cast<double>(s[j]) / scale);
          EXPECT_LT(distance(product(scaled, vt), a), 10 * this->near)
              << m << " x " << n << " times " << scale;
        }
}

TYPED_TEST(Blocks, Eigenvectors) {
  using T = TypeParam;
  for (const Cuts& cuts : {in_one, in_blocks})
    for (const std::int64_t n : orders)
      for (const double scale : {1.0, std::is_same_v<T, float> ? 1e-35 : 1e-300,
                                 std::is_same_v<T, float> ? 1e30 : 1e290}) {
        const Matrix<T> noise = random_matrix<T>(n, n, 8);
        Matrix<T> a(n, n), vectors(n, n);
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) a(i, j) = noise(i, j) + noise(j, i);
        // Only the upper triangle, which is the lower one of a row-major matrix, is read.
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            vectors(i, j) = i <= j ? a(i, j) * static_cast<T>(scale) : T{99};
        std::vector<T> values(n);
        ASSERT_EQ(lapack::symmetric_eigen(n, vectors.data(), values.data(), cuts), 0);
        EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
        EXPECT_LT(distance(product(transposed(vectors), vectors), identity<T>(n)), this->near);
        Matrix<T> turned = vectors;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i)
            turned(i, j) *= static_cast<T>(static_cast<double>(values[j]) / scale);
        EXPECT_LT(distance(product(turned, transposed(vectors)), a), 10 * this->near)
            << n << " times " << scale;
      }
}

/// Matrices whose values are equal, zero or far apart: halves then have much in common, or nothing.
template <class T>
std::vector<Matrix<T>> special_matrices(std::int64_t n) {
  std::vector<Matrix<T>> made(6, Matrix<T>(n, n));
  const Matrix<T> noise = random_matrix<T>(n, n, 10);
  for (std::int64_t i = 0; i < n; ++i) {
    made[1](i, i) = 1;
    made[2](i, i) = static_cast<T>(i % 3);
    made[3](i, i) = static_cast<T>(std::pow(0.5, i % 40));
    for (std::int64_t j = 0; j < n; ++j) {
      made[4](i, j) = noise(i, 0) * noise(j, 0);                               // of rank one
      made[5](i, j) = i / 50 == j / 50 ? (noise(i, j) + noise(j, i)) / 2 : 0;  // blocks
    }
  }
  return made;
}

TYPED_TEST(Blocks, SpecialMatrices) {
  using T = TypeParam;
  for (const std::int64_t n : {26, 60, 131})
    for (const Matrix<T>& a : special_matrices<T>(n)) {
      Matrix<T> used = a, u(n, n), vt(n, n), vectors = a;
      std::vector<T> s(n), values(n);
      ASSERT_EQ(lapack::svd(n, n, used.data(), u.data(), s.data(), vt.data(), in_blocks), 0);
      EXPECT_LT(distance(product(transposed(u), u), identity<T>(n)), this->near);
      EXPECT_LT(distance(product(vt, transposed(vt)), identity<T>(n)), this->near);
      ASSERT_EQ(lapack::symmetric_eigen(n, vectors.data(), values.data(), in_blocks), 0);
      EXPECT_LT(distance(product(transposed(vectors), vectors), identity<T>(n)), this->near);
      Matrix<T> turned = vectors;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          u(i, j) *= s[j];
          turned(i, j) *= values[j];
        }
      EXPECT_LT(distance(product(u, vt), a), 10 * this->near);
      EXPECT_LT(distance(product(turned, transposed(vectors)), a), 10 * this->near);
    }
}

TYPED_TEST(Blocks, AStopIsHeardBetweenThem) {
  using T = TypeParam;
  constexpr std::int64_t n = 70;
  Matrix<T> a = random_matrix<T>(n, n, 9), u(n, n), v(n, n);
  std::vector<T> s(n);
  std::stop_source source;
  source.request_stop();
  const StopScope stop_scope(source.get_token());
  const std::string stopped = "Interrupted: stopped while a matrix was factorised";
  EXPECT_EQ(message_of([&] { (void)lapack::invert(n, a.data(), in_blocks); }), stopped);
  EXPECT_EQ(message_of([&] { (void)lapack::solve(n, n, a.data(), u.data(), in_blocks); }), stopped);
  EXPECT_EQ(message_of([&] { (void)lapack::cholesky(n, a.data(), in_blocks); }), stopped);
  EXPECT_EQ(message_of([&] { lapack::qr(n, n, a.data(), u.data(), v.data(), in_blocks); }),
            stopped);
  EXPECT_EQ(message_of([&] {
              (void)lapack::svd(n, n, a.data(), u.data(), s.data(), v.data(), in_blocks);
            }),
            stopped);
  EXPECT_EQ(message_of([&] { (void)lapack::symmetric_eigen(n, a.data(), s.data(), in_blocks); }),
            stopped);
}

}  // namespace
}  // namespace tessera
