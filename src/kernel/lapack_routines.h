#pragma once

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "base/stop.h"
#include "kernel/lapack.h"
#include "kernel/library_call.h"
#include "tile/buffer.h"

// What the files that factorise have in common: the routines of BLAS and LAPACK by dtype, and
// matrices as they see them. All is column-major here.

extern "C" {
// Not among LAPACKE's: the panel of a reduction to tridiagonal form.
void slatrd_(const char* uplo, const lapack_int* n, const lapack_int* columns, float* a,
             const lapack_int* lda, float* e, float* tau, float* w, const lapack_int* ldw,
             std::size_t uplo_length);
void dlatrd_(const char* uplo, const lapack_int* n, const lapack_int* columns, double* a,
             const lapack_int* lda, double* e, double* tau, double* w, const lapack_int* ldw,
             std::size_t uplo_length);
}

namespace tessera::lapack {

/// Those called _work do not look for NaN, which may pass through.
template <class T>
struct Routines;

// NOLINTBEGIN(bugprone-macro-parentheses): T and x are names
#define TESSERA_ROUTINES(T, x)                             \
  template <>                                              \
  struct Routines<T> {                                     \
    static constexpr auto gemm = cblas_##x##gemm;          \
    static constexpr auto gemv = cblas_##x##gemv;          \
    static constexpr auto nrm2 = cblas_##x##nrm2;          \
    static constexpr auto scal = cblas_##x##scal;          \
    static constexpr auto swap = cblas_##x##swap;          \
    static constexpr auto syrk = cblas_##x##syrk;          \
    static constexpr auto syr2k = cblas_##x##syr2k;        \
    static constexpr auto trmm = cblas_##x##trmm;          \
    static constexpr auto trsm = cblas_##x##trsm;          \
    static constexpr auto bdsdc = LAPACKE_##x##bdsdc_work; \
    static constexpr auto geqrf = LAPACKE_##x##geqrf_work; \
    static constexpr auto getrf = LAPACKE_##x##getrf_work; \
    static constexpr auto getri = LAPACKE_##x##getri_work; \
    static constexpr auto getrs = LAPACKE_##x##getrs_work; \
    static constexpr auto larfb = LAPACKE_##x##larfb_work; \
    static constexpr auto larfg = LAPACKE_##x##larfg_work; \
    static constexpr auto larft = LAPACKE_##x##larft_work; \
    static constexpr auto lascl = LAPACKE_##x##lascl_work; \
    static constexpr auto laswp = LAPACKE_##x##laswp_work; \
    static constexpr auto latrd = x##latrd_;               \
    static constexpr auto orgqr = LAPACKE_##x##orgqr_work; \
    static constexpr auto potrf = LAPACKE_##x##potrf_work; \
    static constexpr auto stedc = LAPACKE_##x##stedc_work; \
    static constexpr auto steqr = LAPACKE_##x##steqr_work; \
    static constexpr auto sytrd = LAPACKE_##x##sytrd_work; \
    static constexpr auto trtri = LAPACKE_##x##trtri_work; \
  }
TESSERA_ROUTINES(float, s);
TESSERA_ROUTINES(double, d);
#undef TESSERA_ROUTINES
// NOLINTEND(bugprone-macro-parentheses)

inline constexpr int layout = LAPACK_COL_MAJOR;
inline constexpr lapack_int ask_for_size = -1;

inline lapack_int size_of_call(std::int64_t extent) { return static_cast<lapack_int>(extent); }

inline lapack_int checked(const char* routine, lapack_int info) {
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

/// A matrix in memory that has room for `leading` elements a column.
template <class T>
struct Columns {
  T* first = nullptr;
  std::int64_t leading = 1;

  T* at(std::int64_t row, std::int64_t column) const { return first + row + column * leading; }
  lapack_int stride() const { return size_of_call(leading); }
};

inline void look_for_stop() { refuse_if_stopped("a matrix was factorised"); }

/// How many columns, or rows, a call may work on that each take so many multiplications.
inline std::int64_t fitting(const Cuts& cuts, double work_of_each) {
  const double count = static_cast<double>(cuts.work) / std::max(work_of_each, 1.0);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(count, 1e9)), cuts.width,
                                  INT32_MAX);
}

/// Calls f(begin, count) for groups of columns from `begin` to `end`, with a look for a stop before
/// each.
template <class F>
void in_groups(std::int64_t begin, std::int64_t end, std::int64_t group, F&& f) {
  for (std::int64_t j = begin; j < end; j += group) {
    look_for_stop();
    f(j, std::min(group, end - j));
  }
}

}  // namespace tessera::lapack
