#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/check.h"
#include "support/reference_kernels.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

// A factorization is judged by what its factors are to satisfy. It must do so for well-conditioned
// matrices, and fail for those whose singularity no rounding can hide.

struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> elements = {};

  Matrix(std::int64_t m, std::int64_t n) : rows(m), columns(n), elements(m * n, 0.0) {}
  double& operator()(std::int64_t i, std::int64_t j) { return elements[i * columns + j]; }
  double operator()(std::int64_t i, std::int64_t j) const { return elements[i * columns + j]; }
};

Matrix identity(std::int64_t n) {
  Matrix result(n, n);
  for (std::int64_t i = 0; i < n; ++i) result(i, i) = 1;
  return result;
}

Matrix transposed(const Matrix& a) {
  Matrix result(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) result(j, i) = a(i, j);
  return result;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j)
      for (std::int64_t k = 0; k < a.columns; ++k) result(i, j) += a(i, k) * b(k, j);
  return result;
}

/// The symmetric matrix with the same lower triangle.
Matrix symmetric(Matrix a) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = i + 1; j < a.columns; ++j) a(i, j) = a(j, i);
  return a;
}

double largest(const Matrix& a) {
  double result = 0;
  for (double value : a.elements) result = std::max(result, std::abs(value));
  return result;
}

bool is_finite(const Matrix& a) {
  return std::all_of(a.elements.begin(), a.elements.end(),
                     [](double value) { return std::isfinite(value); });
}

/// The matrices in the last two dimensions of a tile; a vector for each index of the others, as
/// `vectors`, is a column.
std::vector<Matrix> matrices(const Elements& a, bool vectors = false) {
  const int dims = vectors ? 1 : 2;
  const std::int64_t rows = a.shape[a.shape.rank() - dims];
  const std::int64_t columns = vectors ? 1 : a.shape.back();
  std::vector<Matrix> result;
  const Shape lead(a.shape.begin(), a.shape.end() - dims);
  for (std::int64_t m = 0; m < lead.elements(); ++m) {
    Matrix& matrix = result.emplace_back(rows, columns);
    std::copy_n(a.reals.begin() + m * rows * columns, rows * columns, matrix.elements.begin());
  }
  return result;
}

Elements float_matrices(const Elements& a, bool square) {
  TESSERA_REQUIRE(TypeError, a.shape.rank() >= 2, "not a matrix");
  TESSERA_REQUIRE(TypeError, !square || a.shape.back() == a.shape[a.shape.size() - 2],
                  "not square");
  return converted(a, float_of(a.dtype));
}

/// Collects what is wrong; the first complaint counts.
class Complaints {
 public:
  explicit Complaints(DType dtype) : epsilon_(epsilon_of(dtype)) {}

  /// The matrices must agree within some rounding errors of numbers as large as `scale`.
  void require_near(const char* what, const Matrix& actual, const Matrix& expected, double scale) {
    constexpr double slack = 32;
    const auto length = static_cast<double>(actual.rows + actual.columns + 2);
    const double tolerance = slack * epsilon_ * length * (scale + largest(expected));
    for (std::size_t i = 0; i < actual.elements.size(); ++i)
      if (!(std::abs(actual.elements[i] - expected.elements[i]) <= tolerance))
        complain(fmt::format("{}: element {} is {}, not {} within {}", what, i, actual.elements[i],
                             expected.elements[i], tolerance));
  }
  void require_true(const char* what, bool holds) {
    if (!holds) complain(what);
  }
  std::string first() const { return first_; }

 private:
  void complain(const std::string& text) {
    if (first_.empty()) first_ = text;
  }
  double epsilon_;
  std::string first_;
};

bool has_zero_line(const Matrix& a) {
  const auto is_zero_row = [](const Matrix& matrix, std::int64_t i) {
    const auto row = matrix.elements.begin() + i * matrix.columns;
    return std::all_of(row, row + matrix.columns, [](double value) { return value == 0; });
  };
  const Matrix across = transposed(a);
  for (std::int64_t i = 0; i < a.rows; ++i)
    if (is_zero_row(a, i) || is_zero_row(across, i)) return true;
  return false;
}

bool is_triangular(const Matrix& a, bool lower) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j)
      if ((lower ? j > i : j < i) && a(i, j) != 0) return false;
  return true;
}

/// How far from the shapes due the outputs are; empty if they have them.
std::string misshapen(const std::vector<Elements>& outputs, const std::vector<Shape>& shapes,
                      DType dtype) {
  if (outputs.size() != shapes.size()) return "another number of outputs";
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (outputs[i].shape != shapes[i] || outputs[i].dtype != dtype)
      return fmt::format("output {} is not {}", i, to_string(TileType{dtype, shapes[i]}));
  return "";
}

Shape with_last(const Shape& shape, std::initializer_list<std::int64_t> last) {
  Shape result(shape.begin(), shape.end() - 2);
  for (std::int64_t extent : last) result.push_back(extent);
  return result;
}

/// The judge that checks the shapes of the outputs and then each matrix by `check`, which gets the
/// matrix and the outputs' matrices of the same number.
using Check = void (*)(Complaints&, const Matrix& a, const std::vector<Matrix>& outputs);

Judge each_matrix(const Elements& a, const std::vector<Shape>& shapes, std::size_t vectors_at,
                  Check check) {
  return [=](const std::vector<Elements>& outputs) {
    if (std::string wrong = misshapen(outputs, shapes, a.dtype); !wrong.empty()) return wrong;
    Complaints complaints(a.dtype);
    std::vector<std::vector<Matrix>> stacks;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      stacks.push_back(matrices(outputs[i], i == vectors_at));
    const std::vector<Matrix> given = matrices(a);
    for (std::size_t m = 0; m < given.size(); ++m) {
      std::vector<Matrix> own;
      own.reserve(stacks.size());
      for (const std::vector<Matrix>& stack : stacks) own.push_back(stack[m]);
      check(complaints, given[m], own);
    }
    return complaints.first();
  };
}
constexpr std::size_t nowhere = 9;

Judge inverse(const Arguments& arguments, const Params&) {
  const Elements a = float_matrices(arguments[0], true);
  for (const Matrix& matrix : matrices(a))
    TESSERA_REQUIRE(ValueError, !has_zero_line(matrix), "singular");
  return each_matrix(
      a, {a.shape}, nowhere,
      [](Complaints& complaints, const Matrix& matrix, const std::vector<Matrix>& outputs) {
        complaints.require_near("a times its inverse", product(matrix, outputs[0]),
                                identity(matrix.rows), largest(matrix) * largest(outputs[0]));
      });
}

/// As NumPy has it: a right-hand side of one dimension is one vector for all matrices.
Judge solve(const Arguments& arguments, const Params&) {
  const Elements& right = arguments[1];
  Elements a = float_matrices(arguments[0], true);
  const std::int64_t n = a.shape.back();
  const bool is_vector = right.shape.rank() == 1;
  TESSERA_REQUIRE(TypeError, right.shape.rank() >= 1, "no right-hand side");
  TESSERA_REQUIRE(TypeError, right.shape[right.shape.rank() - (is_vector ? 1 : 2)] == n,
                  "rows differ");
  const DType dtype = float_of(promote(arguments[0].dtype, right.dtype));
  a = converted(arguments[0], dtype);
  const Elements b = converted(right, dtype);
  const Shape a_lead = with_last(a.shape, {});
  const Shape b_lead = is_vector ? Shape() : with_last(b.shape, {});
  const Shape lead = broadcast_shapes(a_lead, b_lead);
  Shape shape = lead;
  shape.push_back(n);
  if (!is_vector) shape.push_back(b.shape.back());
  const std::vector<Matrix> given = matrices(a);
  const std::vector<Matrix> sides = matrices(b, is_vector);
  if (lead.elements() > 0)
    for (const Matrix& matrix : given)
      TESSERA_REQUIRE(ValueError, !has_zero_line(matrix), "singular");
  return [=](const std::vector<Elements>& outputs) {
    if (std::string wrong = misshapen(outputs, {shape}, dtype); !wrong.empty()) return wrong;
    Complaints complaints(dtype);
    const std::vector<Matrix> solutions = matrices(outputs[0], is_vector);
    for (std::int64_t m = 0; m < lead.elements(); ++m) {
      const Matrix& matrix = given[broadcast_position(index_of(m, lead), a_lead)];
      const Matrix& side = sides[broadcast_position(index_of(m, lead), b_lead)];
      complaints.require_near("a times x", product(matrix, solutions[m]), side,
                              largest(matrix) * largest(solutions[m]));
    }
    return complaints.first();
  };
}

Judge cholesky(const Arguments& arguments, const Params&) {
  const Elements a = float_matrices(arguments[0], true);
  for (const Matrix& matrix : matrices(a))
    for (std::int64_t i = 0; i < matrix.rows; ++i)
      TESSERA_REQUIRE(ValueError, matrix(i, i) > 0, "not positive definite");
  return each_matrix(
      a, {a.shape}, nowhere,
      [](Complaints& complaints, const Matrix& matrix, const std::vector<Matrix>& outputs) {
        const Matrix& l = outputs[0];
        complaints.require_true("l is not lower triangular", is_triangular(l, true));
        complaints.require_near("l times its transpose", product(l, transposed(l)),
                                symmetric(matrix), 0);
      });
}

Judge qr(const Arguments& arguments, const Params&) {
  const Elements a = float_matrices(arguments[0], false);
  const std::int64_t rows = a.shape[a.shape.size() - 2];
  const std::int64_t k = std::min(rows, a.shape.back());
  return each_matrix(
      a, {with_last(a.shape, {rows, k}), with_last(a.shape, {k, a.shape.back()})}, nowhere,
      [](Complaints& complaints, const Matrix& matrix, const std::vector<Matrix>& outputs) {
        const Matrix& q = outputs[0];
        const Matrix& r = outputs[1];
        complaints.require_true("r is not upper triangular", is_triangular(r, false));
        complaints.require_near("q's columns", product(transposed(q), q), identity(q.columns), 1);
        complaints.require_near("q times r", product(q, r), matrix, largest(r));
      });
}

Judge svd(const Arguments& arguments, const Params&) {
  const Elements a = float_matrices(arguments[0], false);
  for (const Matrix& matrix : matrices(a))
    TESSERA_REQUIRE(ValueError, is_finite(matrix), "not finite");
  const std::int64_t rows = a.shape[a.shape.size() - 2];
  const std::int64_t k = std::min(rows, a.shape.back());
  return each_matrix(
      a,
      {with_last(a.shape, {rows, k}), with_last(a.shape, {k}),
       with_last(a.shape, {k, a.shape.back()})},
      1, [](Complaints& complaints, const Matrix& matrix, const std::vector<Matrix>& outputs) {
        const Matrix& u = outputs[0];
        const Matrix& s = outputs[1];
        const Matrix& vt = outputs[2];
        Matrix scaled = u;
        for (std::int64_t i = 0; i < u.rows; ++i)
          for (std::int64_t j = 0; j < u.columns; ++j) scaled(i, j) *= s(j, 0);
        const bool descending = std::is_sorted(s.elements.rbegin(), s.elements.rend());
        complaints.require_true("the singular values do not descend to 0 at most",
                                descending && (s.rows == 0 || s.elements.back() >= 0));
        complaints.require_near("u's columns", product(transposed(u), u), identity(u.columns), 1);
        complaints.require_near("vt's rows", product(vt, transposed(vt)), identity(vt.rows), 1);
        complaints.require_near("u s vt", product(scaled, vt), matrix, largest(s));
      });
}

Judge eigh(const Arguments& arguments, const Params&) {
  const Elements a = float_matrices(arguments[0], true);
  for (const Matrix& matrix : matrices(a))
    TESSERA_REQUIRE(ValueError, is_finite(symmetric(matrix)), "not finite");
  return each_matrix(
      a, {with_last(a.shape, {a.shape.back()}), a.shape}, 0,
      [](Complaints& complaints, const Matrix& matrix, const std::vector<Matrix>& outputs) {
        const Matrix& values = outputs[0];
        const Matrix& vectors = outputs[1];
        Matrix scaled = vectors;
        for (std::int64_t i = 0; i < vectors.rows; ++i)
          for (std::int64_t j = 0; j < vectors.columns; ++j) scaled(i, j) *= values(j, 0);
        complaints.require_true("the eigenvalues do not ascend",
                                std::is_sorted(values.elements.begin(), values.elements.end()));
        complaints.require_near("the eigenvectors", product(transposed(vectors), vectors),
                                identity(vectors.columns), 1);
        complaints.require_near("a times its eigenvectors", product(symmetric(matrix), vectors),
                                scaled, largest(symmetric(matrix)));
      });
}

}  // namespace

References factorization_references() {
  return {{"inverse", inverse}, {"solve", solve}, {"cholesky", cholesky},
          {"qr", qr},           {"svd", svd},     {"eigh", eigh}};
}

}  // namespace tessera
