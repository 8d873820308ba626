#include "kernel/divide_and_conquer.h"
#include "kernel/lapack.h"
#include "kernel/reflectors.h"

// Eigenvalues and eigenvectors of symmetric matrices, as LAPACK's syevd finds them: Q' A Q is made
// tridiagonal by reflections, and the eigenvectors of that are turned by Q.

namespace tessera::lapack {
namespace {

/// The upper triangle := its tridiagonal form and the reflections that lead there, from the last
/// columns to the first.
template <class T>
void reduce(std::int64_t n, const Columns<T>& a, T* d, T* e, T* tau, const Cuts& cuts) {
  // A column of a panel takes a product of the matrix with a vector, which reads all of it: as much
  // time as fifty multiplications would take for each element.
  const double column = 50 * static_cast<double>(n) * static_cast<double>(n) / 2;
  const std::int64_t panel = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(static_cast<double>(cuts.work) / column), 4, 32);
  BufferVector<T> w(n * panel);
  const lapack_int stride = a.stride();
  const lapack_int leading = size_of_call(n);
  std::int64_t left = n;  // columns
  for (; left > 4 * panel; left -= panel) {
    look_for_stop();
    const lapack_int order = size_of_call(left), columns = size_of_call(panel);
    Routines<T>::latrd("U", &order, &columns, a.first, &stride, e, tau, w.data(), &leading, 1);
    const std::int64_t before = left - panel;
    Routines<T>::syr2k(CblasColMajor, CblasUpper, CblasNoTrans, size_of_call(before),
                       size_of_call(panel), -1, a.at(0, before), stride, w.data(), leading, 1,
                       a.first, stride);
    for (std::int64_t j = before; j < left; ++j) {
      *a.at(j - 1, j) = e[j - 1];
      d[j] = *a.at(j, j);
    }
  }
  look_for_stop();
  with_workspace<T>("sytrd", [&](T* work, lapack_int size) {
    return Routines<T>::sytrd(layout, 'U', size_of_call(left), a.first, stride, d, e, tau, work,
                              size);
  });
}

/// The largest element of the upper triangle, by its magnitude.
template <class T>
T norm_of(std::int64_t n, const Columns<T>& a) {
  T norm = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i <= j; ++i) norm = std::max(norm, std::abs(*a.at(i, j)));
  return norm;
}

}  // namespace

template <class T>
int symmetric_eigen(std::int64_t n, T* first, T* values, const Cuts& cuts) {
  const LibraryCall call;
  const Columns<T> a{first, n};
  if (n == 1) {
    values[0] = first[0];
    first[0] = 1;
    return 0;
  }
  // So that no square is too large or too small to be a number.
  const T norm = norm_of(n, a);
  const T least = std::sqrt(std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon());
  const T wanted = norm > 0 && norm < least ? least : norm > 1 / least ? 1 / least : norm;
  const auto scale = [&](char kind, T from, T to, std::int64_t columns, T* matrix) {
    if (from != to)
      (void)checked("lascl", Routines<T>::lascl(layout, kind, 0, 0, from, to, size_of_call(n),
                                                size_of_call(columns), matrix, size_of_call(n)));
  };
  scale('U', norm, wanted, n, first);

  BufferVector<T> e(n), tau(n), vectors(n * n);
  reduce(n, a, values, e.data(), tau.data(), cuts);
  if (const int info = tridiagonal_eigen(n, values, e.data(), {vectors.data(), n}, cuts); info > 0)
    return info;
  apply(Reflectors<T>{{a.at(0, 1), n}, tau.data(), n - 1, n - 1, Reflectors<T>::Order::backward},
        From::left, Transposed::no, {vectors.data(), n}, n, n, cuts);
  std::copy(vectors.begin(), vectors.end(), first);
  scale('G', wanted, norm, 1, values);
  return 0;
}

template int symmetric_eigen(std::int64_t, float*, float*, const Cuts&);
template int symmetric_eigen(std::int64_t, double*, double*, const Cuts&);

}  // namespace tessera::lapack
