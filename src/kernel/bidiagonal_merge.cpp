#include <array>
#include <numeric>

#include "kernel/divide_and_conquer.h"

extern "C" {
// The steps of LAPACK's bdsdc, which are not among LAPACKE's. Arguments as LAPACK documents them.
#define TESSERA_STEPS(T, x)                                                                        \
  void x##lasdt_(const lapack_int* n, lapack_int* levels, lapack_int* nodes, lapack_int* centres,  \
                 lapack_int* left, lapack_int* right, const lapack_int* small);                    \
  void x##lasdq_(const char* uplo, const lapack_int* sqre, const lapack_int* n,                    \
                 const lapack_int* ncvt, const lapack_int* nru, const lapack_int* ncc, T* d, T* e, \
                 T* vt, const lapack_int* ldvt, T* u, const lapack_int* ldu, T* c,                 \
                 const lapack_int* ldc, T* work, lapack_int* info, std::size_t uplo_length);       \
  void x##lasd2_(const lapack_int* nl, const lapack_int* nr, const lapack_int* sqre,               \
                 lapack_int* k, T* d, T* z, const T* alpha, const T* beta, T* u,                   \
                 const lapack_int* ldu, T* vt, const lapack_int* ldvt, T* dsigma, T* u2,           \
                 const lapack_int* ldu2, T* vt2, const lapack_int* ldvt2, lapack_int* idxp,        \
                 lapack_int* idx, lapack_int* idxc, lapack_int* idxq, lapack_int* coltyp,          \
                 lapack_int* info);                                                                \
  void x##lasd4_(const lapack_int* n, const lapack_int* i, const T* d, const T* z, T* delta,       \
                 const T* rho, T* sigma, T* work, lapack_int* info);
TESSERA_STEPS(float, s)
TESSERA_STEPS(double, d)
#undef TESSERA_STEPS
}

namespace tessera::lapack {
namespace {

template <class T>
struct BidiagonalSteps;
// NOLINTBEGIN(bugprone-macro-parentheses): T and x are names
#define TESSERA_STEPS(T, x)                    \
  template <>                                  \
  struct BidiagonalSteps<T> {                  \
    static constexpr auto tree = x##lasdt_;    \
    static constexpr auto leaf = x##lasdq_;    \
    static constexpr auto deflate = x##lasd2_; \
    static constexpr auto root = x##lasd4_;    \
  }
TESSERA_STEPS(float, s);
TESSERA_STEPS(double, d);
#undef TESSERA_STEPS
// NOLINTEND(bugprone-macro-parentheses)

/// Two halves of a bidiagonal matrix that a row joins: the left one is nl x (nl + 1), the right one
/// nr x (nr + sqre), and between them lies a row with alpha and beta (LAPACK's lasd1 and lasd3).
template <class T>
class BidiagonalMerge {
 public:
  BidiagonalMerge(std::int64_t nl, std::int64_t nr, std::int64_t sqre, const Columns<T>& u,
                  const Columns<T>& vt, const Cuts& cuts)
      : nl_(nl),
        nr_(nr),
        sqre_(sqre),
        n_(nl + nr + 1),
        m_(n_ + sqre),
        u_(u),
        vt_(vt),
        cuts_(cuts),
        z_(m_),
        sigma_(n_),
        first_u2_(n_ * n_),
        first_vt2_(m_ * m_),
        u2_{first_u2_.data(), n_},
        vt2_{first_vt2_.data(), m_},
        idxp_(n_),
        idx_(n_),
        idxc_(n_),
        types_(n_) {}

  /// `order` puts the values of each half in ascending order, and then those of the whole.
  int run(T* d, T alpha, T beta, lapack_int* order) {
    T norm = std::max(std::abs(alpha), std::abs(beta));
    d[nl_] = 0;
    for (std::int64_t i = 0; i < n_; ++i) norm = std::max(norm, std::abs(d[i]));
    scale(norm, 1, d);
    alpha /= norm;
    beta /= norm;
    const lapack_int left = size_of_call(nl_), right = size_of_call(nr_),
                     more = size_of_call(sqre_);
    const lapack_int ldu = u_.stride(), ldvt = vt_.stride(), ldu2 = u2_.stride(),
                     ldvt2 = vt2_.stride();
    lapack_int kept = 0, info = 0;
    look_for_stop();
    BidiagonalSteps<T>::deflate(&left, &right, &more, &kept, d, z_.data(), &alpha, &beta, u_.first,
                                &ldu, vt_.first, &ldvt, sigma_.data(), u2_.first, &ldu2, vt2_.first,
                                &ldvt2, idxp_.data(), idx_.data(), idxc_.data(), order,
                                types_.data(), &info);
    checked("lasd2", info);
    k_ = kept;
    std::copy_n(types_.begin(), totals_.size(), totals_.begin());
    if (const int failed = find_vectors(d); failed > 0) return failed;
    scale(1, norm, d);
    merge_order(kept, size_of_call(n_) - kept, d, order);
    return 0;
  }

 private:
  void scale(T from, T to, T* d) const {
    (void)checked("lascl", Routines<T>::lascl(layout, 'G', 0, 0, from, to, size_of_call(n_), 1, d,
                                              size_of_call(n_)));
  }

  T norm_of(const T* column) const {
    return static_cast<T>(Routines<T>::nrm2(size_of_call(k_), column, 1));
  }

  int find_vectors(T* d) {
    if (k_ == 1) {
      d[0] = std::abs(z_[0]);
      for (std::int64_t j = 0; j < m_; ++j) *vt_.at(0, j) = *vt2_.at(0, j);
      for (std::int64_t i = 0; i < n_; ++i)
        *u_.at(i, 0) = z_[0] > 0 ? *u2_.at(i, 0) : -*u2_.at(i, 0);
      return 0;
    }
    BufferVector<T> first(k_ * k_);
    q_ = {first.data(), k_};
    if (const int failed = find_roots(d); failed > 0) return failed;
    refine_z();
    for (std::int64_t i = 0; i < k_; ++i) left_vector(i);
    multiply_left();
    for (std::int64_t i = 0; i < k_; ++i) right_vector(i);
    multiply_right();
    return 0;
  }

  /// The roots of the secular equation, and in u and vt their distances from the poles.
  int find_roots(T* d) {
    std::copy_n(z_.data(), k_, q_.first);
    const T norm = norm_of(z_.data());
    (void)checked("lascl", Routines<T>::lascl(layout, 'G', 0, 0, norm, 1, size_of_call(k_), 1,
                                              z_.data(), size_of_call(k_)));
    const T rho = norm * norm;
    const lapack_int count = size_of_call(k_);
    for (lapack_int j = 1; j <= count; ++j) {
      look_for_stop();
      lapack_int info = 0;
      BidiagonalSteps<T>::root(&count, &j, sigma_.data(), z_.data(), u_.at(0, j - 1), &rho,
                               &d[j - 1], vt_.at(0, j - 1), &info);
      if (info > 0) return info;
    }
    return 0;
  }

  /// The z of which the roots that were found are the exact ones (Gu and Eisenstat), so that their
  /// vectors are orthogonal.
  void refine_z() {
    for (std::int64_t i = 0; i < k_; ++i) {
      if (i % 64 == 0) look_for_stop();
      const auto distance = [&](std::int64_t j) {
        return (sigma_[i] - sigma_[j]) * (sigma_[i] + sigma_[j]);
      };
      T z = *u_.at(i, k_ - 1) * *vt_.at(i, k_ - 1);
      for (std::int64_t j = 0; j < i; ++j) z *= *u_.at(i, j) * *vt_.at(i, j) / distance(j);
      for (std::int64_t j = i; j < k_ - 1; ++j) z *= *u_.at(i, j) * *vt_.at(i, j) / distance(j + 1);
      z_[i] = std::copysign(std::sqrt(std::abs(z)), q_.first[i]);
    }
  }

  void left_vector(std::int64_t i) {
    if (i % 64 == 0) look_for_stop();
    T* u = u_.at(0, i);
    T* vt = vt_.at(0, i);
    vt[0] = z_[0] / u[0] / vt[0];
    u[0] = -1;
    for (std::int64_t j = 1; j < k_; ++j) {
      vt[j] = z_[j] / u[j] / vt[j];
      u[j] = sigma_[j] * vt[j];
    }
    const T norm = norm_of(u);
    *q_.at(0, i) = u[0] / norm;
    for (std::int64_t j = 1; j < k_; ++j) *q_.at(j, i) = u[idxc_[j] - 1] / norm;
  }

  void right_vector(std::int64_t i) {
    if (i % 64 == 0) look_for_stop();
    const T* vt = vt_.at(0, i);
    const T norm = norm_of(vt);
    *q_.at(i, 0) = vt[0] / norm;
    for (std::int64_t j = 1; j < k_; ++j) *q_.at(i, j) = vt[idxc_[j] - 1] / norm;
  }

  // The vectors of the halves are of three types, which follow each other: those that are zero
  // below, those that are zero above, and others. Only what is not zero is multiplied.

  void multiply_left() {
    const std::int64_t above = totals_[0], below = totals_[1], both = totals_[2];
    if (k_ == 2)
      return multiply(n_, k_, k_, u2_.first, u2_.leading, q_.first, k_, T{0}, u_.first, u_.leading,
                      cuts_);
    const std::int64_t dense = 1 + above + below;
    multiply(nl_, k_, above, u2_.at(0, 1), u2_.leading, q_.at(1, 0), k_, T{0}, u_.first, u_.leading,
             cuts_);
    if (both > 0)
      multiply(nl_, k_, both, u2_.at(0, dense), u2_.leading, q_.at(dense, 0), k_, T{1}, u_.first,
               u_.leading, cuts_);
    for (std::int64_t j = 0; j < k_; ++j) *u_.at(nl_, j) = *q_.at(0, j);
    multiply(nr_, k_, below + both, u2_.at(nl_ + 1, 1 + above), u2_.leading, q_.at(1 + above, 0),
             k_, T{0}, u_.at(nl_ + 1, 0), u_.leading, cuts_);
  }

  void multiply_right() {
    const std::int64_t above = totals_[0], below = totals_[1], both = totals_[2];
    if (k_ == 2)
      return multiply(k_, m_, k_, q_.first, k_, vt2_.first, vt2_.leading, T{0}, vt_.first,
                      vt_.leading, cuts_);
    multiply(k_, nl_ + 1, 1 + above, q_.first, k_, vt2_.first, vt2_.leading, T{0}, vt_.first,
             vt_.leading, cuts_);
    const std::int64_t dense = 1 + above + below;
    if (dense < m_)
      multiply(k_, nl_ + 1, both, q_.at(0, dense), k_, vt2_.at(dense, 0), vt2_.leading, T{1},
               vt_.first, vt_.leading, cuts_);
    if (above > 0) {
      for (std::int64_t i = 0; i < k_; ++i) *q_.at(i, above) = *q_.at(i, 0);
      for (std::int64_t j = nl_ + 1; j < m_; ++j) *vt2_.at(above, j) = *vt2_.at(0, j);
    }
    multiply(k_, nr_ + sqre_, 1 + below + both, q_.at(0, above), k_, vt2_.at(above, nl_ + 1),
             vt2_.leading, T{0}, vt_.at(0, nl_ + 1), vt_.leading, cuts_);
  }

  const std::int64_t nl_, nr_, sqre_, n_, m_;
  const Columns<T> u_, vt_;
  const Cuts& cuts_;
  std::int64_t k_ = 0;  // values that the merge changes
  BufferVector<T> z_, sigma_, first_u2_, first_vt2_;
  Columns<T> u2_, vt2_, q_;
  BufferVector<lapack_int> idxp_, idx_, idxc_, types_;
  std::array<std::int64_t, 4> totals_{};
};

/// A part that no zero splits, as LAPACK's lasd0 has it: leaves, and then merges level by level.
template <class T>
int conquer(std::int64_t n, T* d, T* e, const Columns<T>& u, const Columns<T>& vt,
            const Cuts& cuts) {
  BufferVector<T> work(4 * n);
  const lapack_int order = size_of_call(n), none = 0, ldu = u.stride(), ldvt = vt.stride();
  lapack_int info = 0;
  if (n <= not_torn) {
    BidiagonalSteps<T>::leaf("U", &none, &order, &order, &order, &none, d, e, vt.first, &ldvt,
                             u.first, &ldu, u.first, &ldu, work.data(), &info, 1);
    return info;
  }
  BufferVector<lapack_int> centres(n), lefts(n), rights(n), values(n);
  lapack_int levels = 0, nodes = 0;
  BidiagonalSteps<T>::tree(&order, &levels, &nodes, centres.data(), lefts.data(), rights.data(),
                           &not_torn);

  const auto leaf = [&](std::int64_t first, lapack_int rows, lapack_int sqre) {
    look_for_stop();
    const lapack_int columns = rows + sqre;
    BidiagonalSteps<T>::leaf("U", &sqre, &rows, &columns, &rows, &none, d + first, e + first,
                             vt.at(first, first), &ldvt, u.at(first, first), &ldu,
                             u.at(first, first), &ldu, work.data(), &info, 1);
    std::iota(values.begin() + first, values.begin() + first + rows, 1);
    return info;
  };
  for (lapack_int i = (nodes + 1) / 2 - 1; i < nodes; ++i) {
    const std::int64_t centre = centres[i] - 1;
    if (leaf(centre - lefts[i], lefts[i], 1) > 0) return info;
    if (leaf(centre + 1, rights[i], i + 1 == nodes ? 0 : 1) > 0) return info;
  }
  for (lapack_int level = levels; level > 0; --level) {
    const lapack_int begin = (lapack_int{1} << (level - 1)) - 1;
    const lapack_int end = 2 * begin;  // the last one
    for (lapack_int i = begin; i <= end; ++i) {
      const std::int64_t centre = centres[i] - 1;
      const std::int64_t first = centre - lefts[i];
      BidiagonalMerge<T> merge(lefts[i], rights[i], i == end ? 0 : 1,
                               {u.at(first, first), u.leading}, {vt.at(first, first), vt.leading},
                               cuts);
      if (const int failed = merge.run(d + first, d[centre], e[centre], values.data() + first);
          failed > 0)
        return failed;
    }
  }
  return 0;
}

/// Brings values in descending order, and their vectors with them.
template <class T>
void sort_values(std::int64_t n, T* d, const Columns<T>& u, const Columns<T>& vt) {
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    if (i % 64 == 0) look_for_stop();
    const std::int64_t largest = std::max_element(d + i, d + n) - d;
    if (largest == i) continue;
    std::swap(d[i], d[largest]);
    Routines<T>::swap(size_of_call(n), u.at(0, i), 1, u.at(0, largest), 1);
    Routines<T>::swap(size_of_call(n), vt.at(i, 0), vt.stride(), vt.at(largest, 0), vt.stride());
  }
}

}  // namespace

template <class T>
int bidiagonal_svd(std::int64_t n, T* d, T* e, const Columns<T>& u, const Columns<T>& vt,
                   const Cuts& cuts) {
  if (n <= not_torn || std::pow(static_cast<double>(n), 3) * 2 <= static_cast<double>(cuts.work)) {
    BufferVector<T> work(3 * n * n + 4 * n);
    BufferVector<lapack_int> integers(8 * n);
    look_for_stop();
    return checked("bdsdc", Routines<T>::bdsdc(layout, 'U', 'I', size_of_call(n), d, e, u.first,
                                               u.stride(), vt.first, vt.stride(), nullptr, nullptr,
                                               work.data(), integers.data()));
  }
  for (std::int64_t j = 0; j < n; ++j) {
    std::fill_n(u.at(0, j), n, T{});
    std::fill_n(vt.at(0, j), n, T{});
    *u.at(j, j) = *vt.at(j, j) = 1;
  }
  T norm = 0;
  for (std::int64_t i = 0; i < n; ++i)
    norm = std::max({norm, std::abs(d[i]), i + 1 < n ? std::abs(e[i]) : T{}});
  if (norm == 0) return 0;
  const auto scale = [&](T from, T to, std::int64_t count, T* values) {
    (void)checked("lascl", Routines<T>::lascl(layout, 'G', 0, 0, from, to, size_of_call(count), 1,
                                              values, size_of_call(count)));
  };
  scale(norm, 1, n, d);
  scale(norm, 1, n - 1, e);
  const T nothing = static_cast<T>(0.9) * std::numeric_limits<T>::epsilon() / 2;
  for (std::int64_t i = 0; i < n; ++i)
    if (std::abs(d[i]) < nothing) d[i] = std::copysign(nothing, d[i]);
  // A zero above the diagonal splits the matrix.
  for (std::int64_t begin = 0, i = 0; i < n; ++i) {
    if (i + 1 < n && std::abs(e[i]) >= nothing) continue;
    const std::int64_t order = i + 1 - begin;
    if (order == 1) {
      *u.at(begin, begin) = std::copysign(T{1}, d[begin]);
      d[begin] = std::abs(d[begin]);
    } else if (const int failed =
                   conquer(order, d + begin, e + begin, Columns<T>{u.at(begin, begin), u.leading},
                           Columns<T>{vt.at(begin, begin), vt.leading}, cuts);
               failed > 0) {
      return failed;
    }
    begin = i + 1;
  }
  scale(1, norm, n, d);
  sort_values(n, d, u, vt);
  return 0;
}

template int bidiagonal_svd(std::int64_t, float*, float*, const Columns<float>&,
                            const Columns<float>&, const Cuts&);
template int bidiagonal_svd(std::int64_t, double*, double*, const Columns<double>&,
                            const Columns<double>&, const Cuts&);

}  // namespace tessera::lapack
