#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/lapack.h"
#include "kernel/linear_solve.h"
#include "kernel/matrix_stack.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

// --- types

// The workspaces hold 3 n^2 (bdsdc) and n^2 (stedc) elements and some vectors.
constexpr std::int64_t largest_svd = 23'000;
constexpr std::int64_t largest_eigen = 32'000;

std::vector<TileType> infer_inverse(Types types, const Params&) {
  require_square("inverse", types[0]);
  return {{float_of(types[0].dtype), types[0].shape}};
}

std::vector<TileType> infer_cholesky(Types types, const Params&) {
  require_square("cholesky", types[0]);
  return {{float_of(types[0].dtype), types[0].shape}};
}

std::vector<TileType> infer_qr(Types types, const Params&) {
  require_matrix("qr", types[0]);
  const DType dtype = float_of(types[0].dtype);
  const MatrixStack stack(types[0].shape);
  const std::int64_t k = std::min(stack.rows, stack.columns);
  return {{dtype, stack.lead_and({stack.rows, k})}, {dtype, stack.lead_and({k, stack.columns})}};
}

std::vector<TileType> infer_svd(Types types, const Params&) {
  require_matrix("svd", types[0], largest_svd);
  const DType dtype = float_of(types[0].dtype);
  const MatrixStack stack(types[0].shape);
  const std::int64_t k = std::min(stack.rows, stack.columns);
  return {{dtype, stack.lead_and({stack.rows, k})},
          {dtype, stack.lead_and({k})},
          {dtype, stack.lead_and({k, stack.columns})}};
}

std::vector<TileType> infer_eigh(Types types, const Params&) {
  require_square("eigh", types[0], largest_eigen);
  const DType dtype = float_of(types[0].dtype);
  const MatrixStack stack(types[0].shape);
  return {{dtype, stack.lead_and({stack.rows})}, {dtype, types[0].shape}};
}

// --- runs

std::vector<Tile> inverse(Tiles tiles, const Params&) {
  const MatrixStack stack(tiles[0].shape());
  MutableTile a = working_copy(tiles[0], float_of(tiles[0].dtype()));
  visit_float(a.dtype(), [&]<class T>() {
    for_each_matrix(stack, a.data<T>(), [&](std::int64_t i, T* matrix) {
      require_regular("inverse", stack, i, lapack::invert(stack.rows, matrix));
    });
  });
  return {std::move(a).publish()};
}

std::vector<Tile> cholesky(Tiles tiles, const Params&) {
  const MatrixStack stack(tiles[0].shape());
  MutableTile a = working_copy(tiles[0], float_of(tiles[0].dtype()));
  visit_float(a.dtype(), [&]<class T>() {
    for_each_matrix(stack, a.data<T>(), [&](std::int64_t i, T* matrix) {
      const int minor = lapack::cholesky(stack.rows, matrix);
      TESSERA_REQUIRE(ValueError, minor == 0,
                      "cholesky: the {} is not positive definite (its leading minor {} is not "
                      "positive); add a multiple of the identity",
                      stack.name_of(i), minor);
    });
  });
  return {std::move(a).publish()};
}

std::vector<Tile> qr(Tiles tiles, const Params& params) {
  const std::vector<TileType> types = infer_qr(std::array{tiles[0].type()}, params);
  const MatrixStack stack(tiles[0].shape());
  const DType dtype = types[0].dtype;
  const std::int64_t k = std::min(stack.rows, stack.columns);
  MutableTile a = working_copy(swap_last_two(tiles[0]), dtype);
  MutableTile q = MutableTile::uninitialized(dtype, stack.lead_and({k, stack.rows}));
  MutableTile r = MutableTile::uninitialized(dtype, types[1].shape);
  visit_float(dtype, [&]<class T>() {
    for_each_matrix(stack, a.data<T>(), [&](std::int64_t i, T* matrix) {
      lapack::qr(stack.rows, stack.columns, matrix, q.data<T>() + i * k * stack.rows,
                 r.data<T>() + i * k * stack.columns);
    });
  });
  return {swap_last_two(std::move(q).publish()), std::move(r).publish()};
}

void require_finite(const char* kernel, const MatrixStack& stack, std::int64_t i, bool finite) {
  TESSERA_REQUIRE(ValueError, finite, "{}: the {} has NaN or infinity; replace them", kernel,
                  stack.name_of(i));
}

void require_converged(const char* kernel, const MatrixStack& stack, std::int64_t i, int info) {
  TESSERA_REQUIRE(ValueError, info == 0,
                  "{}: the {} does not converge (LAPACK returned info {}); rescale it", kernel,
                  stack.name_of(i), info);
}

template <class T>
bool all_finite(const T* first, std::int64_t count) {
  return std::all_of(first, first + count, [](T value) { return std::isfinite(value); });
}

std::vector<Tile> svd(Tiles tiles, const Params& params) {
  const std::vector<TileType> types = infer_svd(std::array{tiles[0].type()}, params);
  const MatrixStack stack(tiles[0].shape());
  const DType dtype = types[0].dtype;
  // LAPACK gets a matrix that is at least as tall as wide: a in column-major order or, if a is not,
  // the transpose of it, as which it reads the row-major a. Then a' = v s u', and what it writes is
  // the row-major u and v'.
  const bool turned = stack.rows <= stack.columns;
  const std::int64_t k = std::min(stack.rows, stack.columns);
  const std::int64_t longer = std::max(stack.rows, stack.columns);
  MutableTile a = working_copy(turned ? tiles[0] : swap_last_two(tiles[0]), dtype);
  MutableTile tall = MutableTile::uninitialized(dtype, stack.lead_and({k, longer}));
  MutableTile s = MutableTile::uninitialized(dtype, types[1].shape);
  MutableTile square = MutableTile::uninitialized(dtype, stack.lead_and({k, k}));
  visit_float(dtype, [&]<class T>() {
    for_each_matrix(stack, a.data<T>(), [&](std::int64_t i, T* matrix) {
      require_finite("svd", stack, i, all_finite(matrix, stack.rows * stack.columns));
      const int info = lapack::svd(longer, k, matrix, tall.data<T>() + i * longer * k,
                                   s.data<T>() + i * k, square.data<T>() + i * k * k);
      require_converged("svd", stack, i, info);
    });
  });
  const Tile long_factor = std::move(tall).publish();
  const Tile square_factor = std::move(square).publish();
  if (turned) return {square_factor, std::move(s).publish(), long_factor};
  return {swap_last_two(long_factor), std::move(s).publish(), swap_last_two(square_factor)};
}

std::vector<Tile> eigh(Tiles tiles, const Params& params) {
  const std::vector<TileType> types = infer_eigh(std::array{tiles[0].type()}, params);
  const MatrixStack stack(tiles[0].shape());
  const std::int64_t n = stack.rows;
  MutableTile vectors = working_copy(tiles[0], types[0].dtype);
  MutableTile values = MutableTile::uninitialized(types[0].dtype, types[0].shape);
  visit_float(values.dtype(), [&]<class T>() {
    for_each_matrix(stack, vectors.data<T>(), [&](std::int64_t i, T* matrix) {
      for (std::int64_t row = 0; row < n; ++row)
        require_finite("eigh", stack, i, all_finite(matrix + row * n, row + 1));
      require_converged("eigh", stack, i,
                        lapack::symmetric_eigen(n, matrix, values.data<T>() + i * n));
    });
  });
  return {std::move(values).publish(), swap_last_two(std::move(vectors).publish())};
}

// --- the kernels

/// The textbook's operation counts (Golub and Van Loan) for one m x n matrix.
using Flops = double (*)(double m, double n);

Kernel factorization(std::string name, std::string description,
                     std::vector<TileType> (*infer)(Types, const Params&), Flops flops,
                     std::string routine, std::vector<Tile> (*run)(Tiles, const Params&),
                     std::vector<std::string> aliases = {}) {
  return {.name = std::move(name),
          .description = std::move(description),
          .infer = infer,
          .cost =
              [infer, flops](Types types, const Params& params) {
                Cost cost{0, dense_bytes(types[0])};
                for (const TileType& output : infer(types, params))
                  cost.bytes += dense_bytes(output);
                const MatrixStack stack(types[0].shape);
                cost.flops =
                    static_cast<double>(stack.count) *
                    flops(static_cast<double>(stack.rows), static_cast<double>(stack.columns));
                return cost;
              },
          .implementations = {{.name = std::move(routine),
                               .layouts = {LayoutPattern::dense},
                               .run = run}},
          .aliases = std::move(aliases)};
}

}  // namespace

std::vector<Kernel> factorization_kernels() {
  return {
      solve_kernel(),
      factorization(
          "inverse", "the inverse of a square matrix", infer_inverse,
          [](double, double n) { return 2 * n * n * n; }, "getrf_getri", inverse),
      factorization(
          "cholesky", "the lower triangular l with a = l l'; of a only the lower triangle is read",
          infer_cholesky, [](double, double n) { return n * n * n / 3; }, "potrf", cholesky),
      factorization(
          "qr", "q with orthonormal columns and the upper triangular r with a = q r", infer_qr,
          [](double m, double n) {
            const double k = std::min(m, n);
            const double triangle = 2 * m * n * k - (m + n) * k * k + 2 * k * k * k / 3;
            return triangle + 2 * m * k * k - 2 * k * k * k / 3;
          },
          "geqrf_orgqr", qr),
      factorization(
          "svd",
          "u and vt with orthonormal columns and rows and the descending singular values "
          "s with a = u diag(s) vt",
          infer_svd,
          [](double m, double n) {
            const double k = std::min(m, n);
            return 6 * std::max(m, n) * k * k + 20 * k * k * k;
          },
          "gebrd_bdsdc", svd),
      factorization("eigh",
                    "the ascending eigenvalues of a symmetric matrix and its eigenvectors as "
                    "columns; only the lower triangle is read",
                    infer_eigh, [](double, double n) { return 9 * n * n * n; }, "sytrd_stedc", eigh,
                    {"symmetric_eigen"}),
  };
}

}  // namespace tessera
