#pragma once

#include "kernel/lapack_routines.h"

extern "C" {
// Not among LAPACKE's: the order of two ascending or descending parts of a list.
void slamrg_(const lapack_int* n1, const lapack_int* n2, const float* a, const lapack_int* step1,
             const lapack_int* step2, lapack_int* index);
void dlamrg_(const lapack_int* n1, const lapack_int* n2, const double* a, const lapack_int* step1,
             const lapack_int* step2, lapack_int* index);
}

namespace tessera::lapack {

// LAPACK's bdsdc and stedc, in which nothing can be stopped, by the steps that they are made of:
// a bidiagonal or tridiagonal matrix is torn into halves, those into halves again, until they are
// small, and what was found of two halves is merged. Of a merge, LAPACK finds which values stay as
// they are (deflation) and the roots of the secular equation, one after the other; the vectors are
// products of matrices, which take nearly all of the time.

inline constexpr lapack_int not_torn = 25;  // the order of what is small, as LAPACK has it

/// d := the singular values, descending, of the upper bidiagonal matrix of order n with the
/// diagonal d and e above it; u and vt := its singular vectors. Above 0 if it does not converge.
template <class T>
int bidiagonal_svd(std::int64_t n, T* d, T* e, const Columns<T>& u, const Columns<T>& vt,
                   const Cuts& cuts);

/// d := the eigenvalues, ascending, of the symmetric tridiagonal matrix of order n with the
/// diagonal d and e beside it; z := its eigenvectors. Above 0 if it does not converge.
template <class T>
int tridiagonal_eigen(std::int64_t n, T* d, T* e, const Columns<T>& z, const Cuts& cuts);

/// order := the one in which the values d ascend, of which `up` ascend and the `down` after them
/// descend.
inline void merge_order(lapack_int up, lapack_int down, const float* d, lapack_int* order) {
  const lapack_int forth = 1, back = -1;
  slamrg_(&up, &down, d, &forth, &back, order);
}
inline void merge_order(lapack_int up, lapack_int down, const double* d, lapack_int* order) {
  const lapack_int forth = 1, back = -1;
  dlamrg_(&up, &down, d, &forth, &back, order);
}

/// c := a b + factor c, for factors of 0 and 1, in calls that do not take long.
template <class T>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda,
              const T* b, std::int64_t ldb, T factor, T* c, std::int64_t ldc, const Cuts& cuts) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (factor == 0)
      for (std::int64_t j = 0; j < n; ++j) std::fill_n(c + j * ldc, m, T{});
    return;
  }
  const double column = static_cast<double>(m) * static_cast<double>(k);
  in_groups(0, n, fitting(cuts, column), [&](std::int64_t at, std::int64_t count) {
    Routines<T>::gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, size_of_call(m),
                      size_of_call(count), size_of_call(k), 1, a, size_of_call(lda), b + at * ldb,
                      size_of_call(ldb), factor, c + at * ldc, size_of_call(ldc));
  });
}

}  // namespace tessera::lapack
