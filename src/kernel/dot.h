#pragma once

#include <cstdint>

#include "kernel/gemm.h"

namespace tessera {

/// Elements at equal distances.
template <class W>
struct DenseVector {
  const W* first;
  std::int64_t stride;
};

/// The stored elements of a vector, in increasing order of their coordinates. Boolean vectors have
/// no values.
template <class W>
struct SparseVector {
  const std::int64_t* coordinates;
  const W* values;
  std::int64_t count;

  W value(std::int64_t entry) const {
    if constexpr (is_or_and<W>) {
      return 1;
    } else {
      return values[entry];
    }
  }
};

// The dot product of two vectors. A place that one of them does not store contributes nothing, not
// even against NaN or infinity.

template <class W>
W dot(const SparseVector<W>& a, const DenseVector<W>& b) {
  W sum{};
  for (std::int64_t i = 0; i < a.count; ++i)
    sum = multiply_add(sum, a.value(i), b.first[a.coordinates[i] * b.stride]);
  return sum;
}

template <class W>
W dot(const DenseVector<W>& a, const SparseVector<W>& b) {
  return dot(b, a);
}

template <class W>
W dot(const SparseVector<W>& a, const SparseVector<W>& b) {
  W sum{};
  std::int64_t i = 0;
  std::int64_t j = 0;
  while (i < a.count && j < b.count) {
    const std::int64_t in_a = a.coordinates[i];
    const std::int64_t in_b = b.coordinates[j];
    if (in_a == in_b) sum = multiply_add(sum, a.value(i), b.value(j));
    i += in_a <= in_b;
    j += in_b <= in_a;
  }
  return sum;
}

}  // namespace tessera
