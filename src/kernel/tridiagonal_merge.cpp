#include <array>
#include <numeric>

#include "kernel/divide_and_conquer.h"

extern "C" {
// The steps of LAPACK's stedc, which are not among LAPACKE's. Arguments as LAPACK documents them.
#define TESSERA_STEPS(T, x)                                                                      \
  void x##laed2_(lapack_int* k, const lapack_int* n, const lapack_int* n1, T* d, T* q,           \
                 const lapack_int* ldq, lapack_int* indxq, T* rho, T* z, T* lambda, T* w, T* q2, \
                 lapack_int* indx, lapack_int* indxc, lapack_int* indxp, lapack_int* coltyp,     \
                 lapack_int* info);                                                              \
  void x##laed4_(const lapack_int* n, const lapack_int* i, const T* d, const T* z, T* delta,     \
                 const T* rho, T* lambda, lapack_int* info);
TESSERA_STEPS(float, s)
TESSERA_STEPS(double, d)
#undef TESSERA_STEPS
}

namespace tessera::lapack {
namespace {

template <class T>
struct TridiagonalSteps;
// NOLINTBEGIN(bugprone-macro-parentheses): T and x are names
#define TESSERA_STEPS(T, x)                    \
  template <>                                  \
  struct TridiagonalSteps<T> {                 \
    static constexpr auto deflate = x##laed2_; \
    static constexpr auto root = x##laed4_;    \
  }
TESSERA_STEPS(float, s);
TESSERA_STEPS(double, d);
#undef TESSERA_STEPS
// NOLINTEND(bugprone-macro-parentheses)

/// Two halves of a tridiagonal matrix, of n1 and n - n1 rows, that rho joins (LAPACK's laed1 and
/// laed3).
template <class T>
class TridiagonalMerge {
 public:
  TridiagonalMerge(std::int64_t n, std::int64_t n1, const Columns<T>& q, const Cuts& cuts)
      : n_(n),
        n1_(n1),
        q_(q),
        cuts_(cuts),
        z_(n),
        lambda_(n),
        w_(n),
        q2_(n * n),
        s_(n * n),
        indx_(n),
        indxc_(n),
        indxp_(n),
        types_(n) {}

  /// `order` puts the values of each half in ascending order, and then those of the whole.
  int run(T* d, T rho, lapack_int* order) {
    for (std::int64_t j = 0; j < n1_; ++j) z_[j] = *q_.at(n1_ - 1, j);
    for (std::int64_t j = n1_; j < n_; ++j) z_[j] = *q_.at(n1_, j);
    const lapack_int rows = size_of_call(n_), above = size_of_call(n1_), ldq = q_.stride();
    lapack_int kept = 0, info = 0;
    look_for_stop();
    TridiagonalSteps<T>::deflate(&kept, &rows, &above, d, q_.first, &ldq, order, &rho, z_.data(),
                                 lambda_.data(), w_.data(), q2_.data(), indx_.data(), indxc_.data(),
                                 indxp_.data(), types_.data(), &info);
    checked("laed2", info);
    k_ = kept;
    if (k_ == 0) {
      std::iota(order, order + n_, 1);
      return 0;
    }
    if (const int failed = find_vectors(d, rho); failed > 0) return failed;
    merge_order(kept, rows - kept, d, order);
    return 0;
  }

 private:
  int find_vectors(T* d, T rho) {
    const lapack_int count = size_of_call(k_);
    for (lapack_int j = 1; j <= count; ++j) {
      look_for_stop();
      lapack_int info = 0;
      TridiagonalSteps<T>::root(&count, &j, lambda_.data(), w_.data(), q_.at(0, j - 1), &rho,
                                &d[j - 1], &info);
      if (info > 0) return info;
    }
    if (k_ == 2)
      for (std::int64_t j = 0; j < 2; ++j) {
        const std::array<T, 2> found{*q_.at(0, j), *q_.at(1, j)};
        for (std::int64_t i = 0; i < 2; ++i) *q_.at(i, j) = found[indxc_[i] - 1];
      }
    if (k_ > 2) orthogonal_vectors();
    multiply_vectors();
    return 0;
  }

  /// Those of the matrix of which the roots that were found are the exact ones (Gu and Eisenstat).
  void orthogonal_vectors() {
    std::copy_n(w_.data(), k_, s_.data());
    for (std::int64_t i = 0; i < k_; ++i) w_[i] = *q_.at(i, i);
    for (std::int64_t j = 0; j < k_; ++j) {
      if (j % 64 == 0) look_for_stop();
      for (std::int64_t i = 0; i < k_; ++i)
        if (i != j) w_[i] *= *q_.at(i, j) / (lambda_[i] - lambda_[j]);
    }
    for (std::int64_t i = 0; i < k_; ++i) w_[i] = std::copysign(std::sqrt(-w_[i]), s_[i]);
    for (std::int64_t j = 0; j < k_; ++j) {
      if (j % 64 == 0) look_for_stop();
      for (std::int64_t i = 0; i < k_; ++i) s_[i] = w_[i] / *q_.at(i, j);
      const T norm = static_cast<T>(Routines<T>::nrm2(size_of_call(k_), s_.data(), 1));
      for (std::int64_t i = 0; i < k_; ++i) *q_.at(i, j) = s_[indxc_[i] - 1] / norm;
    }
  }

  /// The vectors of the halves are of three types, which follow each other: those that are zero
  /// below, those that are not zero at all, and those that are zero above.
  void multiply_vectors() {
    const std::int64_t with_upper = types_[0] + types_[1], with_lower = types_[1] + types_[2];
    const std::int64_t below = n_ - n1_;
    const auto take = [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t j = 0; j < k_; ++j)
        std::copy_n(q_.at(first, j), count, s_.data() + j * count);
    };
    take(types_[0], with_lower);
    multiply(below, k_, with_lower, q2_.data() + n1_ * with_upper, below, s_.data(), with_lower,
             T{0}, q_.at(n1_, 0), q_.leading, cuts_);
    // What is above is still there: only rows below have been written.
    take(0, with_upper);
    multiply(n1_, k_, with_upper, q2_.data(), n1_, s_.data(), with_upper, T{0}, q_.first,
             q_.leading, cuts_);
  }

  const std::int64_t n_, n1_;
  const Columns<T> q_;
  const Cuts& cuts_;
  std::int64_t k_ = 0;  // values that the merge changes
  BufferVector<T> z_, lambda_, w_, q2_, s_;
  BufferVector<lapack_int> indx_, indxc_, indxp_, types_;
};

/// A part that no zero splits. `order` puts its values in ascending order.
template <class T>
int conquer(std::int64_t n, T* d, T* e, const Columns<T>& q, lapack_int* order, const Cuts& cuts) {
  look_for_stop();
  if (n <= not_torn) {
    std::iota(order, order + n, 1);
    BufferVector<T> work(2 * n);
    return checked("steqr", Routines<T>::steqr(layout, 'I', size_of_call(n), d, e, q.first,
                                               q.stride(), work.data()));
  }
  const std::int64_t half = n / 2;
  const T rho = e[half - 1];
  d[half - 1] -= std::abs(rho);
  d[half] -= std::abs(rho);
  if (const int failed = conquer(half, d, e, q, order, cuts); failed > 0) return failed;
  if (const int failed = conquer(n - half, d + half, e + half,
                                 Columns<T>{q.at(half, half), q.leading}, order + half, cuts);
      failed > 0)
    return failed;
  return TridiagonalMerge<T>(n, half, q, cuts).run(d, rho, order);
}

}  // namespace

template <class T>
int tridiagonal_eigen(std::int64_t n, T* d, T* e, const Columns<T>& z, const Cuts& cuts) {
  if (n <= not_torn || std::pow(static_cast<double>(n), 3) <= static_cast<double>(cuts.work)) {
    BufferVector<T> work(1 + 4 * n + n * n);
    BufferVector<lapack_int> integers(3 + 5 * n);
    look_for_stop();
    return checked("stedc",
                   Routines<T>::stedc(layout, 'I', size_of_call(n), d, e, z.first, z.stride(),
                                      work.data(), static_cast<lapack_int>(work.size()),
                                      integers.data(), static_cast<lapack_int>(integers.size())));
  }
  for (std::int64_t j = 0; j < n; ++j) {
    std::fill_n(z.at(0, j), n, T{});
    *z.at(j, j) = 1;
  }
  const auto scale = [&](T from, T to, std::int64_t count, T* values) {
    if (count > 0)
      (void)checked("lascl", Routines<T>::lascl(layout, 'G', 0, 0, from, to, size_of_call(count), 1,
                                                values, size_of_call(count)));
  };
  const T epsilon = std::numeric_limits<T>::epsilon() / 2;
  BufferVector<lapack_int> order(n);
  for (std::int64_t begin = 0, i = 0; i < n; ++i) {
    if (i + 1 < n &&
        std::abs(e[i]) > epsilon * std::sqrt(std::abs(d[i])) * std::sqrt(std::abs(d[i + 1])))
      continue;
    const std::int64_t rows = i + 1 - begin;
    if (rows > 1) {
      T norm = 0;
      for (std::int64_t j = begin; j <= i; ++j)
        norm = std::max({norm, std::abs(d[j]), j < i ? std::abs(e[j]) : T{}});
      scale(norm, 1, rows, d + begin);
      scale(norm, 1, rows - 1, e + begin);
      const int failed = conquer(rows, d + begin, e + begin,
                                 Columns<T>{z.at(begin, begin), z.leading}, order.data(), cuts);
      if (failed > 0) return failed;
      scale(1, norm, rows, d + begin);
    }
    begin = i + 1;
  }
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    if (i % 64 == 0) look_for_stop();
    const std::int64_t least = std::min_element(d + i, d + n) - d;
    if (least == i) continue;
    std::swap(d[i], d[least]);
    Routines<T>::swap(size_of_call(n), z.at(0, i), 1, z.at(0, least), 1);
  }
  return 0;
}

template int tridiagonal_eigen(std::int64_t, float*, float*, const Columns<float>&, const Cuts&);
template int tridiagonal_eigen(std::int64_t, double*, double*, const Columns<double>&, const Cuts&);

}  // namespace tessera::lapack
