#include "kernel/reflectors.h"

namespace tessera::lapack {
namespace {

constexpr std::int64_t usual_group = 64;  // of reflections that are applied at once

/// As many as LAPACK would take, or fewer where they are so long that one call would take too long.
std::int64_t group_of(const Cuts& cuts, std::int64_t length) {
  const double width = std::sqrt(static_cast<double>(cuts.work) / static_cast<double>(length));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(width),
                                  std::min(cuts.width, usual_group), usual_group);
}

/// A group of reflections, multiplied together: I - V T V'.
template <class T>
class Group {
 public:
  Group(const Reflectors<T>& all, std::int64_t begin, std::int64_t count)
      : forward_(all.order == Reflectors<T>::Order::forward),
        by_columns_(all.stored == Reflectors<T>::Stored::by_columns),
        count_(count),
        length_(forward_ ? all.length - begin : all.length - all.count + begin + count),
        v_{forward_      ? all.v.at(begin, begin)
           : by_columns_ ? all.v.at(0, begin)
                         : all.v.at(begin, 0),
           all.v.leading},
        triangle_(count * count) {
    (void)checked("larft",
                  Routines<T>::larft(layout, direct(), storage(), size_of_call(length_),
                                     size_of_call(count), v_.first, v_.stride(), all.tau + begin,
                                     triangle_.data(), size_of_call(count)));
  }

  std::int64_t length() const { return length_; }

  void apply(From side, Transposed transposed, T* c, std::int64_t leading, std::int64_t rows,
             std::int64_t columns) {
    const std::int64_t across = side == From::left ? columns : rows;
    work_.resize(static_cast<std::size_t>(across * count_));
    (void)checked(
        "larfb", Routines<T>::larfb(layout, side == From::left ? 'L' : 'R',
                                    transposed == Transposed::yes ? 'T' : 'N', direct(), storage(),
                                    size_of_call(rows), size_of_call(columns), size_of_call(count_),
                                    v_.first, v_.stride(), triangle_.data(), size_of_call(count_),
                                    c, size_of_call(leading), work_.data(), size_of_call(across)));
  }

 private:
  char direct() const { return forward_ ? 'F' : 'B'; }
  char storage() const { return by_columns_ ? 'C' : 'R'; }

  bool forward_, by_columns_;
  std::int64_t count_, length_;
  Columns<T> v_;
  BufferVector<T> triangle_, work_;
};

}  // namespace

template <class T>
void apply(const Reflectors<T>& q, From side, Transposed transposed, const Columns<T>& c,
           std::int64_t rows, std::int64_t columns, const Cuts& cuts) {
  const std::int64_t width = group_of(cuts, q.length);
  const bool forward = q.order == Reflectors<T>::Order::forward;
  // Which factor meets c first.
  const bool first_first = ((side == From::left) == (transposed == Transposed::yes)) == forward;
  const std::int64_t groups = (q.count + width - 1) / width;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t begin = (first_first ? g : groups - 1 - g) * width;
    Group<T> group(q, begin, std::min(width, q.count - begin));
    const double work =
        2 * static_cast<double>(group.length()) * static_cast<double>(std::min(width, q.count));
    const std::int64_t extent = side == From::left ? rows : columns;
    const std::int64_t at = forward ? extent - group.length() : 0;
    if (side == From::left)
      in_groups(0, columns, fitting(cuts, work), [&](std::int64_t j, std::int64_t count) {
        group.apply(side, transposed, c.at(at, j), c.leading, group.length(), count);
      });
    else
      in_groups(0, rows, fitting(cuts, work), [&](std::int64_t i, std::int64_t count) {
        group.apply(side, transposed, c.at(i, at), c.leading, count, group.length());
      });
  }
}

template <class T>
void triangularise(std::int64_t m, std::int64_t n, const Columns<T>& a, T* tau, const Cuts& cuts) {
  const std::int64_t k = std::min(m, n);
  const auto call = [&](std::int64_t i, std::int64_t columns) {
    look_for_stop();
    with_workspace<T>("geqrf", [&](T* work, lapack_int size) {
      return Routines<T>::geqrf(layout, size_of_call(m - i), size_of_call(columns), a.at(i, i),
                                a.stride(), tau + i, work, size);
    });
  };
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (work <= static_cast<double>(cuts.work)) return call(0, n);
  const std::int64_t width = group_of(cuts, m);
  for (std::int64_t i = 0; i < k; i += width) {
    const std::int64_t columns = std::min(width, k - i);
    call(i, columns);
    const std::int64_t next = i + columns;
    if (next < n)
      apply(Reflectors<T>{{a.at(i, i), a.leading}, tau + i, columns, m - i}, From::left,
            Transposed::yes, {a.at(i, next), a.leading}, m - i, n - next, cuts);
  }
}

template <class T>
void qr(std::int64_t m, std::int64_t n, T* first, T* q, T* r, const Cuts& cuts) {
  const LibraryCall call;
  const std::int64_t k = std::min(m, n);
  const Columns<T> a{first, m};
  BufferVector<T> tau(k);
  triangularise(m, n, a, tau.data(), cuts);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = i <= j ? *a.at(i, j) : T{};
  const Columns<T> product{q, m};
  const double work = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(k);
  if (work <= static_cast<double>(cuts.work)) {
    std::copy_n(first, m * k, q);
    with_workspace<T>("orgqr", [&](T* space, lapack_int size) {
      return Routines<T>::orgqr(layout, size_of_call(m), size_of_call(k), size_of_call(k), q,
                                product.stride(), tau.data(), space, size);
    });
    return;
  }
  // The product of the reflections with the first columns of the identity. Columns before the ones
  // that a group was made of are not changed by it, which saves a third of the work.
  std::fill_n(q, m * k, T{});
  for (std::int64_t i = 0; i < k; ++i) *product.at(i, i) = 1;
  const std::int64_t width = group_of(cuts, m);
  for (std::int64_t i = (k - 1) / width * width; i >= 0; i -= width)
    apply(Reflectors<T>{{a.at(i, i), m}, tau.data() + i, std::min(width, k - i), m - i}, From::left,
          Transposed::no, {product.at(i, i), m}, m - i, k - i, cuts);
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type
#define TESSERA_INSTANTIATE(T)                                                                 \
  template void apply(const Reflectors<T>&, From, Transposed, const Columns<T>&, std::int64_t, \
                      std::int64_t, const Cuts&);                                              \
  template void triangularise(std::int64_t, std::int64_t, const Columns<T>&, T*, const Cuts&); \
  template void qr(std::int64_t, std::int64_t, T*, T*, T*, const Cuts&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace tessera::lapack
