#include "kernel/divide_and_conquer.h"
#include "kernel/lapack.h"
#include "kernel/reflectors.h"

// Singular values and vectors, as LAPACK's gesdd finds them: Q' A P is made bidiagonal by
// reflections, and the singular vectors of that are turned by Q and P.

namespace tessera::lapack {
namespace {

/// The matrix as it becomes bidiagonal, of m x n with m at least n: what its diagonal and the one
/// above it are, and reflections: Q in columns below the diagonal, P in rows right of the one
/// above.
template <class T>
class Bidiagonal {
 public:
  Bidiagonal(std::int64_t m, std::int64_t n, const Columns<T>& a)
      : m_(m), n_(n), a_(a), e_(n), tau_q_(n), tau_p_(n), x_(m * panel), y_(n * panel) {}

  /// d := the diagonal.
  void reduce(T* d) {
    for (std::int64_t i = 0; i < n_; i += panel) {
      const std::int64_t columns = std::min(panel, n_ - i);
      for (std::int64_t j = i; j < i + columns; ++j) {
        look_for_stop();
        eliminate_column(i, j, d);
        if (j + 1 < n_) eliminate_row(i, j);
      }
      update(i, i + columns);
      for (std::int64_t j = i; j < i + columns; ++j) {
        *a_.at(j, j) = d[j];
        if (j + 1 < n_) *a_.at(j, j + 1) = e_[j];
      }
    }
  }

  T* superdiagonal() { return e_.data(); }
  Reflectors<T> q() const { return {a_, tau_q_.data(), n_, m_}; }
  Reflectors<T> p() const {
    return {
        {a_.at(0, 1), a_.leading},     tau_p_.data(), n_ - 1, n_ - 1, Reflectors<T>::Order::forward,
        Reflectors<T>::Stored::by_rows};
  }

 private:
  static constexpr std::int64_t panel = 32;

  // Inside a panel that begins at i, all elements but those of its rows and columns are still what
  // they were before it; what has to be taken from them is V Y' + X U'. V and U are the reflections
  // of the panel, and X and Y, which are m x panel and n x panel, what it takes.
  T* x(std::int64_t row, std::int64_t column) { return x_.data() + row + column * m_; }
  T* y(std::int64_t row, std::int64_t column) { return y_.data() + row + column * n_; }

  /// to := factor to + scale (matrix or its transpose) from
  static void multiply(CBLAS_TRANSPOSE turned, std::int64_t rows, std::int64_t columns, T scale,
                       const T* matrix, std::int64_t leading, const T* from, std::int64_t from_step,
                       T factor, T* to, std::int64_t to_step) {
    if (rows == 0 || columns == 0) {
      // A BLAS leaves alone what a product of nothing should clear.
      const std::int64_t length = turned == CblasNoTrans ? rows : columns;
      if (factor == 0)
        for (std::int64_t i = 0; i < length; ++i) to[i * to_step] = 0;
      return;
    }
    Routines<T>::gemv(CblasColMajor, turned, size_of_call(rows), size_of_call(columns), scale,
                      matrix, size_of_call(leading), from, size_of_call(from_step), factor, to,
                      size_of_call(to_step));
  }

  /// The reflection that clears column j below the diagonal, and its column of Y.
  void eliminate_column(std::int64_t i, std::int64_t j, T* d) {
    const std::int64_t lda = a_.leading;
    const std::int64_t k = j - i;      // of the panel, so many columns are done
    const std::int64_t rows = m_ - j;  // from the diagonal on
    multiply(CblasNoTrans, rows, k, -1, a_.at(j, i), lda, y(j, 0), n_, 1, a_.at(j, j), 1);
    multiply(CblasNoTrans, rows, k, -1, x(j, 0), m_, a_.at(i, j), 1, 1, a_.at(j, j), 1);
    (void)Routines<T>::larfg(size_of_call(rows), a_.at(j, j), a_.at(std::min(j + 1, m_ - 1), j), 1,
                             &tau_q_[j]);
    d[j] = *a_.at(j, j);
    if (j + 1 >= n_) return;
    *a_.at(j, j) = 1;
    const T* v = a_.at(j, j);
    const std::int64_t rest = n_ - j - 1;
    T* own = y(j + 1, k);
    T* short_one = y(i, k);
    multiply(CblasTrans, rows, rest, 1, a_.at(j, j + 1), lda, v, 1, 0, own, 1);
    multiply(CblasTrans, rows, k, 1, a_.at(j, i), lda, v, 1, 0, short_one, 1);
    multiply(CblasNoTrans, rest, k, -1, y(j + 1, 0), n_, short_one, 1, 1, own, 1);
    multiply(CblasTrans, rows, k, 1, x(j, 0), m_, v, 1, 0, short_one, 1);
    multiply(CblasTrans, k, rest, -1, a_.at(i, j + 1), lda, short_one, 1, 1, own, 1);
    Routines<T>::scal(size_of_call(rest), tau_q_[j], own, 1);
  }

  /// The reflection that clears row j right of the diagonal above, and its column of X.
  void eliminate_row(std::int64_t i, std::int64_t j) {
    const std::int64_t lda = a_.leading;
    const std::int64_t k = j - i;
    const std::int64_t rest = n_ - j - 1;  // columns after j
    const std::int64_t rows = m_ - j - 1;  // below j
    T* row = a_.at(j, j + 1);
    multiply(CblasNoTrans, rest, k + 1, -1, y(j + 1, 0), n_, a_.at(j, i), lda, 1, row, lda);
    multiply(CblasTrans, k, rest, -1, a_.at(i, j + 1), lda, x(j, 0), m_, 1, row, lda);
    (void)Routines<T>::larfg(size_of_call(rest), row, a_.at(j, std::min(j + 2, n_ - 1)),
                             a_.stride(), &tau_p_[j]);
    e_[j] = *row;
    *row = 1;
    T* own = x(j + 1, k);
    T* short_one = x(i, k);
    multiply(CblasNoTrans, rows, rest, 1, a_.at(j + 1, j + 1), lda, row, lda, 0, own, 1);
    multiply(CblasTrans, rest, k + 1, 1, y(j + 1, 0), n_, row, lda, 0, short_one, 1);
    multiply(CblasNoTrans, rows, k + 1, -1, a_.at(j + 1, i), lda, short_one, 1, 1, own, 1);
    multiply(CblasNoTrans, k, rest, 1, a_.at(i, j + 1), lda, row, lda, 0, short_one, 1);
    multiply(CblasNoTrans, rows, k, -1, x(j + 1, 0), m_, short_one, 1, 1, own, 1);
    Routines<T>::scal(size_of_call(rows), tau_p_[j], own, 1);
  }

  /// Takes V Y' + X U' from what is left after a panel.
  void update(std::int64_t i, std::int64_t next) {
    const std::int64_t columns = next - i;
    const std::int64_t rows = m_ - next;
    const std::int64_t rest = n_ - next;
    if (rows == 0 || rest == 0) return;
    look_for_stop();
    const auto take = [&](CBLAS_TRANSPOSE turned, const T* left, std::int64_t left_leading,
                          const T* right, std::int64_t right_leading) {
      Routines<T>::gemm(CblasColMajor, CblasNoTrans, turned, size_of_call(rows), size_of_call(rest),
                        size_of_call(columns), -1, left, size_of_call(left_leading), right,
                        size_of_call(right_leading), 1, a_.at(next, next), a_.stride());
    };
    take(CblasTrans, a_.at(next, i), a_.leading, y(next, 0), n_);
    take(CblasNoTrans, x(next, 0), m_, a_.at(i, next), a_.leading);
  }

  const std::int64_t m_, n_;
  const Columns<T> a_;
  BufferVector<T> e_, tau_q_, tau_p_, x_, y_;
};

/// Scales a matrix whose elements are so large or small that their squares would not be numbers.
template <class T>
class Scaled {
 public:
  Scaled(std::int64_t m, std::int64_t n, const Columns<T>& a) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) from_ = std::max(from_, std::abs(*a.at(i, j)));
    const T least = std::sqrt(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
    to_ = from_ > 0 && from_ < least ? least : from_ > 1 / least ? 1 / least : from_;
    scale(from_, to_, m, n, a.first, a.stride());
  }
  /// Brings back what was found of it.
  void undo(std::int64_t count, T* values) {
    scale(to_, from_, count, 1, values, size_of_call(std::max<std::int64_t>(count, 1)));
  }

 private:
  static void scale(T from, T to, std::int64_t rows, std::int64_t columns, T* a,
                    lapack_int leading) {
    if (from == to) return;
    (void)checked("lascl", Routines<T>::lascl(layout, 'G', 0, 0, from, to, size_of_call(rows),
                                              size_of_call(columns), a, leading));
  }
  T from_ = 0, to_ = 0;
};

/// The same of a matrix that is not much taller than wide. u has room for `rows_of_u` rows, of
/// which those after m are zero.
template <class T>
int svd_by_bidiagonal(std::int64_t m, std::int64_t n, const Columns<T>& a, const Columns<T>& u,
                      std::int64_t rows_of_u, T* s, const Columns<T>& vt, const Cuts& cuts) {
  Bidiagonal<T> reduced(m, n, a);
  reduced.reduce(s);
  for (std::int64_t j = 0; j < n; ++j) std::fill(u.at(0, j), u.at(rows_of_u, j), T{});
  if (const int info = bidiagonal_svd(n, s, reduced.superdiagonal(), u, vt, cuts); info > 0)
    return info;
  apply(reduced.q(), From::left, Transposed::no, u, m, n, cuts);
  if (n > 1) apply(reduced.p(), From::right, Transposed::yes, vt, n, n, cuts);
  return 0;
}

}  // namespace

template <class T>
int svd(std::int64_t m, std::int64_t n, T* first, T* first_u, T* s, T* first_vt, const Cuts& cuts) {
  const LibraryCall call;
  const Columns<T> a{first, m}, u{first_u, m}, vt{first_vt, n};
  Scaled<T> scaled(m, n, a);
  int info = 0;
  if (6 * m < 11 * n) {
    info = svd_by_bidiagonal(m, n, a, u, m, s, vt, cuts);
  } else {
    // Of a much taller one, what matters is R.
    BufferVector<T> tau(n), triangle(n * n, T{});
    const Columns<T> r{triangle.data(), n};
    triangularise(m, n, a, tau.data(), cuts);
    for (std::int64_t j = 0; j < n; ++j) std::copy(a.at(0, j), a.at(j + 1, j), r.at(0, j));
    info = svd_by_bidiagonal(n, n, r, u, m, s, vt, cuts);
    if (info == 0)
      apply(Reflectors<T>{a, tau.data(), n, m}, From::left, Transposed::no, u, m, n, cuts);
  }
  scaled.undo(n, s);
  return info;
}

template int svd(std::int64_t, std::int64_t, float*, float*, float*, float*, const Cuts&);
template int svd(std::int64_t, std::int64_t, double*, double*, double*, double*, const Cuts&);

}  // namespace tessera::lapack
