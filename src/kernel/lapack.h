#pragma once

#include <cstdint>

namespace tessera::lapack {

// LAPACK on single matrices, for float and double. Matrices are row-major unless said otherwise.
//
// LAPACK's matrices are column-major, so it reads a row-major A as its transpose. No matrix is
// turned over for that: each function factorises the transpose and names the factors accordingly.
//   A = L L'          A' = U' U, and the column-major U is the row-major L
//   A X = B           (A')' X = B, which LAPACK solves from the factors of A'
//
// A result above 0 says where a factorization broke down, counting from 1, as LAPACK's info does.
//
// A call of LAPACK cannot be stopped. What would take long is therefore done as LAPACK does it, by
// blocks, each of them some calls: a panel of columns is factorised and what follows from it is
// applied to the others. A stop is heard between two calls, and ends it with Interrupted.

/// How large a call may be: a factorization of fewer multiplications is one call, and a block of a
/// larger one is at least so wide, lest it be slow.
struct Cuts {
  std::int64_t work = std::int64_t{1} << 32;  // multiplications, a fifth of a second or less
  std::int64_t width = 64;
};

/// a := its inverse. Breaks down at the first pivot that is zero.
template <class T>
int invert(std::int64_t n, T* a, const Cuts& cuts = {});

/// x := the solution of a x = x for `columns` right-hand sides, one after another in memory; a is
/// overwritten. Breaks down at the first pivot that is zero.
template <class T>
int solve(std::int64_t n, std::int64_t columns, T* a, T* x, const Cuts& cuts = {});

/// a := the lower triangle of its Cholesky factor, with zeros above; only the lower triangle is
/// read. Breaks down at the first leading minor that is not positive.
template <class T>
int cholesky(std::int64_t n, T* a, const Cuts& cuts = {});

/// The reduced factors of the m x n matrix that is column-major in `a`, which is overwritten: q,
/// m x min(m, n), column-major, and r, min(m, n) x n, row-major. Always succeeds.
template <class T>
void qr(std::int64_t m, std::int64_t n, T* a, T* q, T* r, const Cuts& cuts = {});

/// The economy-sized factors of the m x n matrix, m at least n, that is column-major in `a`, which
/// is overwritten: u, m x n, and vt, n x n, both column-major, and the singular values s,
/// descending. Breaks down if it does not converge.
template <class T>
int svd(std::int64_t m, std::int64_t n, T* a, T* u, T* s, T* vt, const Cuts& cuts = {});

/// a := its eigenvectors, one a row; `values` := its eigenvalues, ascending. Only the lower
/// triangle is read. Breaks down if it does not converge.
template <class T>
int symmetric_eigen(std::int64_t n, T* a, T* values, const Cuts& cuts = {});

}  // namespace tessera::lapack
