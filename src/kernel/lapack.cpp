#include "kernel/lapack.h"

#include "kernel/lapack_routines.h"

// Eliminations: LU, what is made of it, and Cholesky.

namespace tessera::lapack {
namespace {

double cubed(std::int64_t n) { return std::pow(static_cast<double>(n), 3); }

/// The width of panels of `rows` rows, of which each takes rows x width^2 multiplications.
std::int64_t panel_width(const Cuts& cuts, std::int64_t rows) {
  const double width = std::sqrt(static_cast<double>(cuts.work) / static_cast<double>(rows));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(width) / 64 * 64, cuts.width,
                                  std::max<std::int64_t>(cuts.width, 1024));
}

/// a := its factors L and U, which a permutation of its rows yields. Breaks down at the first pivot
/// that is zero.
template <class T>
int eliminate(std::int64_t n, T* first, lapack_int* pivots, const Cuts& cuts) {
  const Columns<T> a{first, n};
  const std::int64_t width = panel_width(cuts, n);
  if (cubed(n) / 3 <= static_cast<double>(cuts.work))
    return checked("getrf", Routines<T>::getrf(layout, size_of_call(n), size_of_call(n), first,
                                               a.stride(), pivots));
  for (std::int64_t j = 0; j < n; j += width) {
    const std::int64_t columns = std::min(width, n - j);
    const std::int64_t next = j + columns;
    look_for_stop();
    const lapack_int zero =
        checked("getrf", Routines<T>::getrf(layout, size_of_call(n - j), size_of_call(columns),
                                            a.at(j, j), a.stride(), pivots + j));
    if (zero > 0) return static_cast<int>(j) + zero;
    for (std::int64_t i = j; i < next; ++i) pivots[i] += size_of_call(j);
    const auto exchange_rows = [&](std::int64_t begin, std::int64_t count) {
      if (count > 0)
        (void)Routines<T>::laswp(layout, size_of_call(count), a.at(0, begin), a.stride(),
                                 size_of_call(j + 1), size_of_call(next), pivots, 1);
    };
    exchange_rows(0, j);
    const double work = static_cast<double>(n - j) * static_cast<double>(columns);
    in_groups(next, n, fitting(cuts, work), [&](std::int64_t at, std::int64_t count) {
      exchange_rows(at, count);
      Routines<T>::trsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit,
                        size_of_call(columns), size_of_call(count), 1, a.at(j, j), a.stride(),
                        a.at(j, at), a.stride());
      Routines<T>::gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, size_of_call(n - next),
                        size_of_call(count), size_of_call(columns), -1, a.at(next, j), a.stride(),
                        a.at(j, at), a.stride(), 1, a.at(next, at), a.stride());
    });
  }
  return 0;
}

/// The upper triangle := its inverse, a block of columns after the other: those before it are
/// inverted already.
template <class T>
void invert_upper(std::int64_t n, const Columns<T>& a, std::int64_t width) {
  in_groups(0, n, width, [&](std::int64_t j, std::int64_t columns) {
    if (j > 0) {
      Routines<T>::trmm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit,
                        size_of_call(j), size_of_call(columns), 1, a.first, a.stride(), a.at(0, j),
                        a.stride());
      Routines<T>::trsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit,
                        size_of_call(j), size_of_call(columns), -1, a.at(j, j), a.stride(),
                        a.at(0, j), a.stride());
    }
    (void)checked("trtri", Routines<T>::trtri(layout, 'U', 'N', size_of_call(columns), a.at(j, j),
                                              a.stride()));
  });
}

/// The x for which x L is the inverse of U, in the place of both, blocks from the last on; then the
/// columns are exchanged as the rows were.
template <class T>
void invert_factors(std::int64_t n, const Columns<T>& a, const lapack_int* pivots,
                    const Cuts& cuts) {
  const double square = static_cast<double>(n) * static_cast<double>(n);
  const std::int64_t width = std::min<std::int64_t>(fitting(cuts, square), 512);
  invert_upper(n, a, width);
  BufferVector<T> lower(n * std::min(width, n));
  const Columns<T> l{lower.data(), n};
  for (std::int64_t j = (n - 1) / width * width; j >= 0; j -= width) {
    look_for_stop();
    const std::int64_t columns = std::min(width, n - j);
    const std::int64_t next = j + columns;
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t i = j + c + 1; i < n; ++i) {
        *l.at(i, c) = *a.at(i, j + c);
        *a.at(i, j + c) = 0;
      }
    if (next < n)
      Routines<T>::gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, size_of_call(n),
                        size_of_call(columns), size_of_call(n - next), -1, a.at(0, next),
                        a.stride(), l.at(next, 0), l.stride(), 1, a.at(0, j), a.stride());
    Routines<T>::trsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasUnit,
                      size_of_call(n), size_of_call(columns), 1, l.at(j, 0), l.stride(), a.at(0, j),
                      a.stride());
  }
  for (std::int64_t j = n - 1; j-- > 0;)
    if (const std::int64_t other = pivots[j] - 1; other != j)
      Routines<T>::swap(size_of_call(n), a.at(0, j), 1, a.at(0, other), 1);
}

}  // namespace

template <class T>
int invert(std::int64_t n, T* a, const Cuts& cuts) {
  const LibraryCall call;
  BufferVector<lapack_int> pivots(n);
  if (const int zero = eliminate(n, a, pivots.data(), cuts); zero > 0) return zero;
  if (cubed(n) <= static_cast<double>(cuts.work))
    return with_workspace<T>("getri", [&](T* work, lapack_int size) {
      return Routines<T>::getri(layout, size_of_call(n), a, size_of_call(n), pivots.data(), work,
                                size);
    });
  invert_factors(n, Columns<T>{a, n}, pivots.data(), cuts);
  return 0;
}

template <class T>
int solve(std::int64_t n, std::int64_t columns, T* a, T* x, const Cuts& cuts) {
  const LibraryCall call;
  BufferVector<lapack_int> pivots(n);
  if (const int zero = eliminate(n, a, pivots.data(), cuts); zero > 0) return zero;
  const double square = static_cast<double>(n) * static_cast<double>(n);
  in_groups(0, columns, fitting(cuts, square), [&](std::int64_t at, std::int64_t count) {
    (void)checked("getrs",
                  Routines<T>::getrs(layout, 'T', size_of_call(n), size_of_call(count), a,
                                     size_of_call(n), pivots.data(), x + at * n, size_of_call(n)));
  });
  return 0;
}

namespace {

/// The upper triangle := the U with U'U = a, as LAPACK counts where it breaks down.
template <class T>
int take_root(std::int64_t n, const Columns<T>& a, const Cuts& cuts) {
  if (cubed(n) / 6 <= static_cast<double>(cuts.work))
    return checked("potrf", Routines<T>::potrf(layout, 'U', size_of_call(n), a.first, a.stride()));
  const std::int64_t width = std::min<std::int64_t>(panel_width(cuts, n), 512);
  for (std::int64_t j = 0; j < n; j += width) {
    look_for_stop();
    const std::int64_t columns = std::min(width, n - j);
    if (j > 0)
      Routines<T>::syrk(CblasColMajor, CblasUpper, CblasTrans, size_of_call(columns),
                        size_of_call(j), -1, a.at(0, j), a.stride(), 1, a.at(j, j), a.stride());
    const lapack_int minor = checked(
        "potrf", Routines<T>::potrf(layout, 'U', size_of_call(columns), a.at(j, j), a.stride()));
    if (minor > 0) return static_cast<int>(j) + minor;
    const double work = static_cast<double>(j + columns) * static_cast<double>(columns);
    in_groups(j + columns, n, fitting(cuts, work), [&](std::int64_t at, std::int64_t count) {
      if (j > 0)
        Routines<T>::gemm(CblasColMajor, CblasTrans, CblasNoTrans, size_of_call(columns),
                          size_of_call(count), size_of_call(j), -1, a.at(0, j), a.stride(),
                          a.at(0, at), a.stride(), 1, a.at(j, at), a.stride());
      Routines<T>::trsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit,
                        size_of_call(columns), size_of_call(count), 1, a.at(j, j), a.stride(),
                        a.at(j, at), a.stride());
    });
  }
  return 0;
}

}  // namespace

template <class T>
int cholesky(std::int64_t n, T* a, const Cuts& cuts) {
  const LibraryCall call;
  if (const int minor = take_root(n, Columns<T>{a, n}, cuts); minor > 0) return minor;
  for (std::int64_t i = 0; i < n; ++i) {
    // Not every LAPACK notices that NaN is not positive.
    if (!(a[i * n + i] > 0)) return static_cast<int>(i + 1);
    std::fill(a + i * n + i + 1, a + (i + 1) * n, T{});
  }
  return 0;
}

template int invert(std::int64_t, float*, const Cuts&);
template int solve(std::int64_t, std::int64_t, float*, float*, const Cuts&);
template int cholesky(std::int64_t, float*, const Cuts&);

template int invert(std::int64_t, double*, const Cuts&);
template int solve(std::int64_t, std::int64_t, double*, double*, const Cuts&);
template int cholesky(std::int64_t, double*, const Cuts&);

}  // namespace tessera::lapack
