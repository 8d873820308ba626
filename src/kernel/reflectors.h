#pragma once

#include "kernel/lapack_routines.h"

namespace tessera::lapack {

/// Reflections I - tau v v', one after the other, as LAPACK keeps them: each v in a column of a
/// matrix or in a row of it, with a 1 at its own place that is not stored.
template <class T>
struct Reflectors {
  enum class Order { forward, backward };  // the first one is the leftmost factor, or the last one
  enum class Stored { by_columns, by_rows };

  Columns<T> v;
  const T* tau;
  std::int64_t count;
  std::int64_t length;  // of the first one if forward, of the last one if backward
  Order order = Order::forward;
  Stored stored = Stored::by_columns;
};

enum class From { left, right };
enum class Transposed { no, yes };  // whether the product is taken transposed

/// c := q c or c q, where q is the product of the reflections or its transpose, as groups of them
/// are multiplied together. c is `rows` x `columns`; where reflections are shorter than c, they
/// work on its last rows if forward and on its first ones if backward.
template <class T>
void apply(const Reflectors<T>& q, From side, Transposed transposed, const Columns<T>& c,
           std::int64_t rows, std::int64_t columns, const Cuts& cuts);

/// a := R above its diagonal and the reflections below it whose product with R is a.
template <class T>
void triangularise(std::int64_t m, std::int64_t n, const Columns<T>& a, T* tau, const Cuts& cuts);

}  // namespace tessera::lapack
