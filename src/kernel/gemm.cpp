#include "kernel/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <optional>

#include "base/crew.h"
#include "base/stop.h"
#include "kernel/library_call.h"
#include "kernel/product_blocks.h"
#include "kernel/row_combination.h"
#include "tile/buffer.h"

namespace tessera {
namespace {

template <class W>
BufferVector<W> row_major_copy(const MatrixView<W>& view) {
  BufferVector<W> copy(view.rows * view.columns);
  W* out = copy.data();
  StopPoll poll("a matrix was copied");
  for (std::int64_t i = 0; i < view.rows; ++i)
    for (std::int64_t j = 0; j < view.columns; ++j) {
      *out++ = view(i, j);
      poll.passed(1);
    }
  return copy;
}

template <class W>
MatrixView<W> row_major_view(const W* first, std::int64_t rows, std::int64_t columns) {
  return {first, rows, columns, columns, 1};
}

/// An operand that lies as a BLAS wants it: rows (or columns, if `across`) without gaps inside and
/// a positive distance between them.
template <class W>
struct BlasOperand {
  MatrixView<W> view;
  bool across;

  std::int64_t leading() const { return across ? view.column_stride : view.row_stride; }
  CBLAS_TRANSPOSE transpose() const { return across ? CblasTrans : CblasNoTrans; }
};

template <class W>
std::optional<BlasOperand<W>> as_rows(MatrixView<W> view) {
  if (view.columns == 1) view.column_stride = 1;
  if (view.rows == 1) view.row_stride = view.columns;
  if (view.column_stride != 1 || view.row_stride < view.columns) return std::nullopt;
  return BlasOperand<W>{view, false};
}

template <class W>
std::optional<BlasOperand<W>> as_blas(const MatrixView<W>& view) {
  if (auto rows = as_rows(view)) return rows;
  if (auto columns = as_rows(view.transposed()))
    return BlasOperand<W>{columns->view.transposed(), true};
  return std::nullopt;
}

/// Lends the operand itself if a BLAS can read it, otherwise a copy held in `copy`.
template <class W>
BlasOperand<W> readable(const MatrixView<W>& view, BufferVector<W>& copy) {
  if (const auto operand = as_blas(view)) return *operand;
  copy = row_major_copy(view);
  return {row_major_view(copy.data(), view.rows, view.columns), false};
}

void call_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a, int lda,
               const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}
void call_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a,
               int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}
void call_gemv(CBLAS_TRANSPOSE ta, int m, int n, const float* a, int lda, const float* x, int incx,
               float beta, float* y, int incy) {
  cblas_sgemv(CblasRowMajor, ta, m, n, 1, a, lda, x, incx, beta, y, incy);
}
void call_gemv(CBLAS_TRANSPOSE ta, int m, int n, const double* a, int lda, const double* x,
               int incx, double beta, double* y, int incy) {
  cblas_dgemv(CblasRowMajor, ta, m, n, 1, a, lda, x, incx, beta, y, incy);
}
float call_dot(int n, const float* x, int incx, const float* y, int incy) {
  return cblas_sdot(n, x, incx, y, incy);
}
double call_dot(int n, const double* x, int incx, const double* y, int incy) {
  return cblas_ddot(n, x, incx, y, incy);
}

/// y = a x or y += a x. A gemm would pack the matrix, which is read only once here.
template <class W>
void gemv(const BlasOperand<W>& a, const W* x, std::int64_t x_stride, W beta, W* y,
          std::int64_t y_stride) {
  const auto rows = static_cast<int>(a.across ? a.view.columns : a.view.rows);
  const auto columns = static_cast<int>(a.across ? a.view.rows : a.view.columns);
  call_gemv(a.transpose(), rows, columns, a.view.first, static_cast<int>(a.leading()), x,
            static_cast<int>(x_stride), beta, y, static_cast<int>(y_stride));
}

/// The distance between elements of a row or column vector that a BLAS can read.
template <class W>
std::int64_t vector_stride(const BlasOperand<W>& vector) {
  const MatrixView<W>& view = vector.view;
  return view.rows == 1 ? view.column_stride : view.row_stride;
}

/// A product whose extents and leading dimensions all fit a BLAS.
template <class W>
void blas_product(const BlasOperand<W>& a, const BlasOperand<W>& b, W beta, W* c,
                  std::int64_t c_stride) {
  const auto m = static_cast<int>(a.view.rows);
  const auto n = static_cast<int>(b.view.columns);
  const auto k = static_cast<int>(a.view.columns);
  if (m == 1 && n == 1) {
    const W sum = call_dot(k, a.view.first, static_cast<int>(vector_stride(a)), b.view.first,
                           static_cast<int>(vector_stride(b)));
    *c = beta == 0 ? sum : *c + sum;
    return;
  }
  const LibraryCall call;
  if (n == 1) return gemv(a, b.view.first, vector_stride(b), beta, c, c_stride);
  if (m == 1) {
    const BlasOperand<W> across{b.view.transposed(), !b.across};
    return gemv(across, a.view.first, vector_stride(a), beta, c, 1);
  }
  call_gemm(a.transpose(), b.transpose(), m, n, k, a.view.first, static_cast<int>(a.leading()),
            b.view.first, static_cast<int>(b.leading()), beta, c, static_cast<int>(c_stride));
}

template <class W>
BlasOperand<W> block(const BlasOperand<W>& operand, std::int64_t row, std::int64_t column,
                     std::int64_t rows, std::int64_t columns) {
  MatrixView<W> view = operand.view;
  view.first = &view(row, column);
  view.rows = rows;
  view.columns = columns;
  // What lies between single rows is nobody's business, and may be more than a BLAS can count.
  return *as_blas(view);
}

/// No extent above the largest that a BLAS can be told of. A leading dimension above it forces
/// single rows (or columns), whose leading dimension is free.
template <class W>
ProductBlocks tellable_blocks(const BlasOperand<W>& a, const BlasOperand<W>& b,
                              std::int64_t largest) {
  ProductBlocks blocks = product_blocks(a.view.rows, b.view.columns, a.view.columns);
  const bool a_far = a.leading() > largest;
  const bool b_far = b.leading() > largest;
  const bool c_far = b.view.columns > largest;
  blocks.rows = (a_far && !a.across) || c_far ? 1 : std::min(blocks.rows, largest);
  blocks.inner = (a_far && a.across) || (b_far && !b.across) ? 1 : std::min(blocks.inner, largest);
  blocks.columns = b_far && b.across ? 1 : std::min(blocks.columns, largest);
  return blocks;
}

/// A block of the result after the other, by as many threads as there are; each is a sum over the
/// blocks of the common dimension, in their order.
template <class W>
void blas_product_in_blocks(const BlasOperand<W>& a, const BlasOperand<W>& b, Update update, W* c,
                            const ProductBlocks& blocks) {
  const std::int64_t m = a.view.rows;
  const std::int64_t n = b.view.columns;
  const std::int64_t k = a.view.columns;
  const std::int64_t across = (n + blocks.columns - 1) / blocks.columns;
  const std::int64_t count = (m + blocks.rows - 1) / blocks.rows * across;
  const auto one = [&](std::int64_t number) {
    const std::int64_t i = number / across * blocks.rows;
    const std::int64_t j = number % across * blocks.columns;
    const std::int64_t rows = std::min(blocks.rows, m - i);
    const std::int64_t columns = std::min(blocks.columns, n - j);
    for (std::int64_t l = 0; l < k; l += blocks.inner) {
      const std::int64_t inner = std::min(blocks.inner, k - l);
      refuse_if_stopped("matrices were multiplied");
      const W beta = update == Update::overwrite && l == 0 ? 0 : 1;
      blas_product(block(a, i, l, rows, inner), block(b, l, j, inner, columns), beta, c + i * n + j,
                   rows == 1 ? std::max(columns, std::int64_t{1}) : n);
    }
  };
  if (is_worth_sharing(m, n, k) && count > 1) return share_work(count, one);
  for (std::int64_t number = 0; number < count; ++number) one(number);
}

void call_syrk(CBLAS_TRANSPOSE ta, int n, int k, const float* a, int lda, float beta, float* c,
               int ldc) {
  cblas_ssyrk(CblasRowMajor, CblasUpper, ta, n, k, 1, a, lda, beta, c, ldc);
}
void call_syrk(CBLAS_TRANSPOSE ta, int n, int k, const double* a, int lda, double beta, double* c,
               int ldc) {
  cblas_dsyrk(CblasRowMajor, CblasUpper, ta, n, k, 1, a, lda, beta, c, ldc);
}

/// From which extents on half of the work is more than what the mirrored half costs.
constexpr std::int64_t least_symmetric_rows = 32, least_symmetric_sum = 32;

/// Whether b is the transpose of a, in the same memory: then so is their product its own.
template <class W>
bool is_with_own_transpose(const MatrixView<W>& a, const MatrixView<W>& b) {
  return a.first == b.first && a.rows == b.columns && a.columns == b.rows &&
         a.row_stride == b.column_stride && a.column_stride == b.row_stride &&
         a.rows >= least_symmetric_rows && a.columns >= least_symmetric_sum;
}

/// Visits the elements above the diagonal of n x n, in squares that fit a cache.
template <class Visit>
bool all_above_diagonal(std::int64_t n, const Visit& visit) {
  constexpr std::int64_t side = 32;
  for (std::int64_t i = 0; i < n; i += side) {
    refuse_if_stopped("matrices were multiplied");
    for (std::int64_t j = i; j < n; j += side)
      for (std::int64_t r = i; r < std::min(n, i + side); ++r)
        for (std::int64_t s = std::max(j, r + 1); s < std::min(n, j + side); ++s)
          if (!visit(r, s)) return false;
  }
  return true;
}

/// c = a a' or c += a a', where c is symmetric: the upper half is computed, in stripes of rows, and
/// mirrored.
template <class W>
void symmetric_product(const BlasOperand<W>& a, const BlasOperand<W>& b, Update update, W* c,
                       const ProductBlocks& blocks) {
  const std::int64_t n = a.view.rows, k = a.view.columns;
  const std::int64_t stripes = (n + blocks.rows - 1) / blocks.rows;
  const auto beta_of = [&](std::int64_t l) {
    return W(update == Update::overwrite && l == 0 ? 0 : 1);
  };
  const auto diagonal = [&](std::int64_t i, std::int64_t rows) {
    for (std::int64_t l = 0; l < k; l += blocks.inner) {
      refuse_if_stopped("matrices were multiplied");
      const std::int64_t inner = std::min(blocks.inner, k - l);
      const BlasOperand<W> left = block(a, i, l, rows, inner);
      const LibraryCall call;
      call_syrk(left.transpose(), static_cast<int>(rows), static_cast<int>(inner), left.view.first,
                static_cast<int>(left.leading()), beta_of(l), c + i * n + i, static_cast<int>(n));
    }
  };
  const auto right_of_it = [&](std::int64_t i, std::int64_t rows) {
    for (std::int64_t j = i + rows; j < n; j += blocks.columns)
      for (std::int64_t l = 0; l < k; l += blocks.inner) {
        refuse_if_stopped("matrices were multiplied");
        const std::int64_t inner = std::min(blocks.inner, k - l);
        blas_product(block(a, i, l, rows, inner),
                     block(b, l, j, inner, std::min(blocks.columns, n - j)), beta_of(l),
                     c + i * n + j, n);
      }
  };
  // The larger parts first.
  const auto one = [&](std::int64_t number) {
    const std::int64_t i = number % stripes * blocks.rows;
    const std::int64_t rows = std::min(blocks.rows, n - i);
    number < stripes ? right_of_it(i, rows) : diagonal(i, rows);
  };
  if (is_worth_sharing(n, n, k) && stripes > 1)
    share_work(2 * stripes, one);
  else
    for (std::int64_t number = 0; number < 2 * stripes; ++number) one(number);
  all_above_diagonal(n, [&](std::int64_t i, std::int64_t j) {
    c[j * n + i] = c[i * n + j];
    return true;
  });
}

template <class W>
bool is_symmetric(const W* c, std::int64_t n) {
  return all_above_diagonal(
      n, [&](std::int64_t i, std::int64_t j) { return c[j * n + i] == c[i * n + j]; });
}

template <class W>
struct DenseRows {
  struct Terms {
    static constexpr bool scattered = false;
    const W* first;
    std::int64_t stride;
    std::int64_t count;
    std::int64_t row(std::int64_t t) const { return t; }
    W weight(std::int64_t t) const { return first[t * stride]; }
  };
  MatrixView<W> view;
  Terms terms(std::int64_t i) const {
    return {view.first + i * view.row_stride, view.column_stride, view.columns};
  }
};

}  // namespace

template <class W>
void gemm(const MatrixView<W>& a, const MatrixView<W>& b, W* c, Update update,
          std::int64_t largest_extent) {
  const std::int64_t m = a.rows;
  const std::int64_t n = b.columns;
  if (m == 0 || n == 0) return;
  if (a.columns == 0) {
    if (update == Update::overwrite) std::fill_n(c, m * n, W{});
    return;
  }
  BufferVector<W> a_copy;
  BufferVector<W> b_copy;
  if constexpr (std::is_floating_point_v<W>) {
    const BlasOperand<W> left = readable(a, a_copy);
    const BlasOperand<W> right = readable(b, b_copy);
    const ProductBlocks blocks = tellable_blocks(left, right, largest_extent);
    const bool fits = std::max({m, a.columns, left.leading()}) <= largest_extent;
    if (fits && is_with_own_transpose(a, b) && &left.view(0, 0) == &right.view(0, 0) &&
        (update == Update::overwrite || is_symmetric(c, m)))
      symmetric_product(left, right, update, c, blocks);
    else if (blocks.rows >= m && blocks.columns >= n && blocks.inner >= a.columns)
      blas_product(left, right, W(update == Update::overwrite ? 0 : 1), c, n);
    else
      blas_product_in_blocks(left, right, update, c, blocks);
  } else {
    MatrixView<W> right = b;
    if (right.column_stride != 1) {
      b_copy = row_major_copy(b);
      right = row_major_view(b_copy.data(), b.rows, b.columns);
    }
    const DenseRows<W> left{a};
    combine_rows(RowCombination<W, DenseRows<W>>{left, m, n, right.first, right.row_stride, c,
                                                 update, 256 / sizeof(W)});
  }
}

template void gemm(const MatrixView<float>&, const MatrixView<float>&, float*, Update,
                   std::int64_t);
template void gemm(const MatrixView<double>&, const MatrixView<double>&, double*, Update,
                   std::int64_t);
template void gemm(const MatrixView<std::uint64_t>&, const MatrixView<std::uint64_t>&,
                   std::uint64_t*, Update, std::int64_t);
template void gemm(const MatrixView<std::uint8_t>&, const MatrixView<std::uint8_t>&, std::uint8_t*,
                   Update, std::int64_t);

}  // namespace tessera
