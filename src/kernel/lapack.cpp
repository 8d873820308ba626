#include "kernel/lapack.h"

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "tile/buffer.h"

namespace tessera::lapack {
namespace {

/// The routines by dtype. Those called _work do not look for NaN, which may pass through.
template <class T>
struct Routines;

template <>
struct Routines<float> {
  static constexpr auto getrf = LAPACKE_sgetrf_work;
  static constexpr auto getri = LAPACKE_sgetri_work;
  static constexpr auto getrs = LAPACKE_sgetrs_work;
  static constexpr auto potrf = LAPACKE_spotrf_work;
  static constexpr auto geqrf = LAPACKE_sgeqrf_work;
  static constexpr auto orgqr = LAPACKE_sorgqr_work;
  static constexpr auto gesdd = LAPACKE_sgesdd_work;
  static constexpr auto syevd = LAPACKE_ssyevd_work;
};

template <>
struct Routines<double> {
  static constexpr auto getrf = LAPACKE_dgetrf_work;
  static constexpr auto getri = LAPACKE_dgetri_work;
  static constexpr auto getrs = LAPACKE_dgetrs_work;
  static constexpr auto potrf = LAPACKE_dpotrf_work;
  static constexpr auto geqrf = LAPACKE_dgeqrf_work;
  static constexpr auto orgqr = LAPACKE_dorgqr_work;
  static constexpr auto gesdd = LAPACKE_dgesdd_work;
  static constexpr auto syevd = LAPACKE_dsyevd_work;
};

constexpr int layout = LAPACK_COL_MAJOR;
constexpr lapack_int ask_for_size = -1;

lapack_int checked(const char* routine, lapack_int info) {
  TESSERA_INVARIANT(info >= 0, "LAPACK's {} refuses argument {}", routine, -info);
  return info;
}

/// A routine reports the workspace it wants as a floating-point number, which may have been
/// rounded down.
template <class T>
lapack_int workspace_size(T reported) {
  const double size = std::ceil(std::nextafter(reported, std::numeric_limits<T>::infinity()));
  constexpr double largest = std::numeric_limits<lapack_int>::max();
  return static_cast<lapack_int>(std::clamp(size, 1.0, largest));
}

/// Calls a routine twice: to learn the size of the workspace, and with it.
template <class T, class Routine>
lapack_int with_workspace(const char* name, const Routine& routine) {
  T size = 0;
  checked(name, routine(&size, ask_for_size));
  BufferVector<T> work(workspace_size(size));
  return checked(name, routine(work.data(), static_cast<lapack_int>(work.size())));
}

}  // namespace

template <class T>
int invert(std::int64_t n, T* a) {
  const auto order = static_cast<lapack_int>(n);
  BufferVector<lapack_int> pivots(n);
  const lapack_int info =
      checked("getrf", Routines<T>::getrf(layout, order, order, a, order, pivots.data()));
  if (info > 0) return info;
  return with_workspace<T>("getri", [&](T* work, lapack_int size) {
    return Routines<T>::getri(layout, order, a, order, pivots.data(), work, size);
  });
}

template <class T>
int solve(std::int64_t n, std::int64_t columns, T* a, T* x) {
  const auto order = static_cast<lapack_int>(n);
  BufferVector<lapack_int> pivots(n);
  const lapack_int info =
      checked("getrf", Routines<T>::getrf(layout, order, order, a, order, pivots.data()));
  if (info > 0 || columns == 0) return info;
  return checked("getrs", Routines<T>::getrs(layout, 'T', order, static_cast<lapack_int>(columns),
                                             a, order, pivots.data(), x, order));
}

template <class T>
int cholesky(std::int64_t n, T* a) {
  const auto order = static_cast<lapack_int>(n);
  const lapack_int info = checked("potrf", Routines<T>::potrf(layout, 'U', order, a, order));
  if (info > 0) return info;
  for (std::int64_t i = 0; i < n; ++i) {
    // Not every LAPACK notices that NaN is not positive.
    if (!(a[i * n + i] > 0)) return static_cast<int>(i + 1);
    std::fill(a + i * n + i + 1, a + (i + 1) * n, T{});
  }
  return 0;
}

template <class T>
void qr(std::int64_t m, std::int64_t n, T* a, T* q, T* r) {
  const std::int64_t k = std::min(m, n);
  const auto rows = static_cast<lapack_int>(m);
  const auto columns = static_cast<lapack_int>(n);
  const auto reflectors = static_cast<lapack_int>(k);
  BufferVector<T> scales(k);
  with_workspace<T>("geqrf", [&](T* work, lapack_int size) {
    return Routines<T>::geqrf(layout, rows, columns, a, rows, scales.data(), work, size);
  });
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = i <= j ? a[j * m + i] : T{};
  std::copy_n(a, m * k, q);
  with_workspace<T>("orgqr", [&](T* work, lapack_int size) {
    return Routines<T>::orgqr(layout, rows, reflectors, reflectors, q, rows, scales.data(), work,
                              size);
  });
}

template <class T>
int svd(std::int64_t m, std::int64_t n, T* a, T* u, T* s, T* vt) {
  const auto rows = static_cast<lapack_int>(n);  // of the transpose
  const auto columns = static_cast<lapack_int>(m);
  const lapack_int k = std::min(rows, columns);
  BufferVector<lapack_int> integers(std::size_t{8} * k);
  return with_workspace<T>("gesdd", [&](T* work, lapack_int size) {
    return Routines<T>::gesdd(layout, 'S', rows, columns, a, rows, s, vt, rows, u, k, work, size,
                              integers.data());
  });
}

template <class T>
int symmetric_eigen(std::int64_t n, T* a, T* values) {
  const auto order = static_cast<lapack_int>(n);
  BufferVector<lapack_int> integers(std::size_t{3} + 5 * n);
  return with_workspace<T>("syevd", [&](T* work, lapack_int size) {
    const lapack_int integer_size =
        size == ask_for_size ? ask_for_size : static_cast<lapack_int>(integers.size());
    return Routines<T>::syevd(layout, 'V', 'U', order, a, order, values, work, size,
                              integers.data(), integer_size);
  });
}

template int invert(std::int64_t, float*);
template int solve(std::int64_t, std::int64_t, float*, float*);
template int cholesky(std::int64_t, float*);
template void qr(std::int64_t, std::int64_t, float*, float*, float*);
template int svd(std::int64_t, std::int64_t, float*, float*, float*, float*);
template int symmetric_eigen(std::int64_t, float*, float*);

template int invert(std::int64_t, double*);
template int solve(std::int64_t, std::int64_t, double*, double*);
template int cholesky(std::int64_t, double*);
template void qr(std::int64_t, std::int64_t, double*, double*, double*);
template int svd(std::int64_t, std::int64_t, double*, double*, double*, double*);
template int symmetric_eigen(std::int64_t, double*, double*);

}  // namespace tessera::lapack
