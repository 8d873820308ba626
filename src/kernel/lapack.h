#pragma once

#include <cstdint>

namespace tessera::lapack {

// LAPACK on single matrices, for float and double. Matrices are row-major unless said otherwise.
//
// LAPACK's matrices are column-major, so it reads a row-major A as its transpose. No matrix is
// turned over for that: each function factorises the transpose and names the factors accordingly.
//   A = L L'          A' = U' U, and the column-major U is the row-major L
//   A = U S V'        A' = V S U', and the column-major V and U' are the row-major V' and U
//   A X = B           (A')' X = B, which LAPACK solves from the factors of A'
//
// A result above 0 says where a factorization broke down, counting from 1, as LAPACK's info does.

/// a := its inverse. Breaks down at the first pivot that is zero.
template <class T>
int invert(std::int64_t n, T* a);

/// x := the solution of a x = x for `columns` right-hand sides, one after another in memory; a is
/// overwritten. Breaks down at the first pivot that is zero.
template <class T>
int solve(std::int64_t n, std::int64_t columns, T* a, T* x);

/// a := the lower triangle of its Cholesky factor, with zeros above; only the lower triangle is
/// read. Breaks down at the first leading minor that is not positive.
template <class T>
int cholesky(std::int64_t n, T* a);

/// The reduced factors of the m x n matrix that is column-major in `a`, which is overwritten: q,
/// m x min(m, n), column-major, and r, min(m, n) x n, row-major. Always succeeds.
template <class T>
void qr(std::int64_t m, std::int64_t n, T* a, T* q, T* r);

/// The economy-sized factors of the m x n matrix a, which is overwritten: u, m x min(m, n), the
/// singular values s, descending, and vt, min(m, n) x n. Breaks down if it does not converge.
template <class T>
int svd(std::int64_t m, std::int64_t n, T* a, T* u, T* s, T* vt);

/// a := its eigenvectors, one a row; `values` := its eigenvalues, ascending. Only the lower
/// triangle is read. Breaks down if it does not converge.
template <class T>
int symmetric_eigen(std::int64_t n, T* a, T* values);

}  // namespace tessera::lapack
