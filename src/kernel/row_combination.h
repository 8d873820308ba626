#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/stop.h"
#include "kernel/gemm.h"

namespace tessera {

/// A row of a product is a linear combination of the rows of its right operand:
///   c[i,:] = sum over the terms t of row i: weight(t) * b[row(t),:]
/// `Left` gives the terms: `left.terms(i)` has `count`, `row(t)` and `weight(t)`, and says whether
/// its rows are `scattered`, which the processor cannot foresee.
template <class W, class Left>
struct RowCombination {
  const Left& left;
  std::int64_t rows;
  std::int64_t columns;
  const W* b;  // elements of a row lie side by side, rows `b_stride` apart
  std::int64_t b_stride;
  W* c;  // row-major
  Update update;
  std::int64_t panel;  // the columns of b that serve all rows before the next ones are looked at
};

namespace row_combination {

/// `Width` columns of one row. The sums stay in registers until all terms are added.
template <int Width, int VectorBytes, class W, class Terms>
[[gnu::always_inline]] inline void combine_block(const Terms& terms, const W* b,
                                                 std::int64_t b_stride, W* c, Update update) {
  constexpr int lanes = std::min<int>(VectorBytes / static_cast<int>(sizeof(W)), Width);
  constexpr int vectors = Width / lanes;
  typedef W Vector __attribute__((vector_size(lanes * sizeof(W))));  // NOLINT: `using` cannot
  Vector sums[vectors] = {};
  if (update == Update::accumulate) std::memcpy(sums, c, sizeof sums);
  for (std::int64_t t = 0; t < terms.count; ++t) {
    const W* row = b + terms.row(t) * b_stride;
    const W weight = terms.weight(t);
    if constexpr (Terms::scattered) {
      constexpr std::int64_t ahead = 3;
      constexpr int line = 64 / sizeof(W);
      const W* later = b + (t + ahead < terms.count ? terms.row(t + ahead) : 0) * b_stride;
      for (int i = 0; i < Width; i += line) __builtin_prefetch(later + i);
    }
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) {
      Vector elements;
      std::memcpy(&elements, row + v * lanes, sizeof elements);
      if constexpr (is_or_and<W>) {
        sums[v] |= elements & weight;
      } else {
        sums[v] += elements * weight;
      }
    }
  }
  std::memcpy(c, sums, sizeof sums);
}

/// One column: vectors of one element would go through memory.
template <class W, class Terms>
[[gnu::always_inline]] inline void combine_column(const Terms& terms, const W* b,
                                                  std::int64_t b_stride, W* c, Update update) {
  W sum{};
  for (std::int64_t t = 0; t < terms.count; ++t)
    sum = multiply_add(sum, terms.weight(t), b[terms.row(t) * b_stride]);
  put(*c, sum, update);
}

/// The columns from `first` to `end`, in blocks of `Width` as long as they last, then of half of
/// it.
template <int Width, int VectorBytes, class W, class Left>
[[gnu::always_inline]] inline void combine_columns(const RowCombination<W, Left>& product,
                                                   std::int64_t first, std::int64_t end,
                                                   StopPoll& poll) {
  const std::int64_t blocks = (end - first) / Width;
  for (std::int64_t i = 0; blocks > 0 && i < product.rows; ++i) {
    const auto terms = product.left.terms(i);
    poll.passed(1 + terms.count * blocks);  // a block is about as many vectors as fit a nanosecond
    W* c = product.c + i * product.columns;
    for (std::int64_t column = first; column <= end - Width; column += Width) {
      if constexpr (Width > 1) {
        combine_block<Width, VectorBytes>(terms, product.b + column, product.b_stride, c + column,
                                          product.update);
      } else {
        combine_column(terms, product.b + column, product.b_stride, c + column, product.update);
      }
    }
  }
  if constexpr (Width > 1)
    combine_columns<Width / 2, VectorBytes>(product, first + blocks * Width, end, poll);
}

/// Eight vectors of sums leave half of the sixteen registers to rows and weights.
template <int VectorBytes, class W, class Left>
[[gnu::always_inline]] inline void combine_all(const RowCombination<W, Left>& product) {
  constexpr int width = 8 * VectorBytes / static_cast<int>(sizeof(W));
  StopPoll poll("rows were multiplied");
  for (std::int64_t column = 0; column < product.columns; column += product.panel)
    combine_columns<width, VectorBytes>(product, column,
                                        std::min(product.columns, column + product.panel), poll);
}

#ifdef __x86_64__
template <class W, class Left>
[[gnu::target("avx2,fma")]] void combine_avx2(const RowCombination<W, Left>& product) {
  combine_all<32>(product);
}
#endif

}  // namespace row_combination

template <class W, class Left>
void combine_rows(const RowCombination<W, Left>& product) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return row_combination::combine_avx2(product);
#endif
  row_combination::combine_all<16>(product);
}

}  // namespace tessera
