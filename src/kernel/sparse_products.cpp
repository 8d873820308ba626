#include "kernel/sparse_products.h"

#include <algorithm>

#include "base/stop.h"
#include "kernel/row_combination.h"

namespace tessera {

template <class W>
TransposedMatrix<W>::TransposedMatrix(const SparseMatrix<W>& matrix)
    : rows_(matrix.columns),
      columns_(matrix.rows),
      offsets_(matrix.columns + 1),
      coordinates_(matrix.stored()),
      values_(is_or_and<W> ? 0 : matrix.stored()) {
  // offsets_[j + 1] first counts the entries of column j, then is where its next entry goes; the
  // shift by one makes it the end of column j when all have gone.
  std::fill(offsets_.begin(), offsets_.end(), 0);
  const std::int64_t first = matrix.begin(0);
  const std::int64_t last = matrix.begin(matrix.rows);
  for (std::int64_t p = first; p < last; ++p) {
    const std::int64_t next = matrix.coordinates[p] + 2;
    if (next <= rows_) ++offsets_[next];
  }
  for (std::int64_t j = 1; j <= rows_; ++j) offsets_[j] += offsets_[j - 1];
  StopPoll poll("a sparse matrix was transposed");
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    poll.passed(1 + 8 * (matrix.end(i) - matrix.begin(i)));  // each goes somewhere else in memory
    for (std::int64_t p = matrix.begin(i); p < matrix.end(i); ++p) {
      const std::int64_t place = offsets_[matrix.coordinates[p] + 1]++;
      coordinates_[place] = i;
      if constexpr (!is_or_and<W>) values_[place] = matrix.values[p];
    }
  }
}

namespace {

template <class W>
struct SparseRows {
  struct Terms : SparseVector<W> {
    static constexpr bool scattered = true;
    std::int64_t row(std::int64_t t) const { return this->coordinates[t]; }
    W weight(std::int64_t t) const { return this->value(t); }
  };
  SparseMatrix<W> matrix;
  Terms terms(std::int64_t i) const { return {matrix.row(i)}; }
};

template <class W>
void pack(const MatrixView<W>& view, W* out) {
  for (std::int64_t i = 0; i < view.rows; ++i)
    for (std::int64_t j = 0; j < view.columns; ++j) *out++ = view(i, j);
}

template <class W>
void gather_column(const SparseMatrix<W>& a, const DenseVector<W>& b, W* c, Update update) {
  StopPoll poll("rows were multiplied");
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const SparseVector<W> row = a.row(i);
    poll.passed(1 + row.count);
    put(c[i], dot(row, b), update);
  }
}

template <class W>
void gather_rows(const SparseMatrix<W>& a, const MatrixView<W>& b, W* c, Update update) {
  if (b.columns == 1) return gather_column(a, DenseVector<W>{b.first, b.row_stride}, c, update);
  BufferVector<W> packed;
  const W* first = b.first;
  std::int64_t stride = b.row_stride;
  if (b.column_stride != 1) {
    packed.resize(b.rows * b.columns);
    pack(b, packed.data());
    first = packed.data();
    stride = b.columns;
  }
  const SparseRows<W> left{a};
  combine_rows(RowCombination<W, SparseRows<W>>{left, a.rows, b.columns, first, stride, c, update,
                                                b.columns});
}

/// c[i,:] += a[i,k] * b[k,:], one row of a after the other.
template <class W>
void scatter_rows(const MatrixView<W>& a, const SparseMatrix<W>& b, W* c, Update update) {
  if (update == Update::overwrite) std::fill_n(c, a.rows * b.columns, W{});
  StopPoll poll("rows were multiplied");
  for (std::int64_t i = 0; i < a.rows; ++i) {
    W* row = c + i * b.columns;
    for (std::int64_t k = 0; k < b.rows; ++k) {
      const W weight = a(i, k);
      const SparseVector<W> entries = b.row(k);
      poll.passed(1 + entries.count);
      for (std::int64_t p = 0; p < entries.count; ++p) {
        W& sum = row[entries.coordinates[p]];
        sum = multiply_add(sum, weight, entries.value(p));
      }
    }
  }
}

/// c = a b read as transpose(c) = transpose(b) transpose(a), a strip of rows at a time: a strip
/// that lies across its rows has the elements side by side that an entry of b multiplies.
template <class W>
void multiply_strips(const MatrixView<W>& a, const SparseMatrix<W>& b_transposed, W* c,
                     Update update) {
  constexpr std::int64_t strip = 256 / sizeof(W);
  const std::int64_t n = b_transposed.rows;
  const std::int64_t height = std::min(strip, a.rows);
  BufferVector<W> across(a.columns * height);
  BufferVector<W> sums(n * height);
  for (std::int64_t i = 0; i < a.rows; i += strip) {
    const std::int64_t rows = std::min(strip, a.rows - i);
    pack(MatrixView<W>{a.first + i * a.row_stride, rows, a.columns, a.row_stride, a.column_stride}
             .transposed(),
         across.data());
    gather_rows(b_transposed, {across.data(), a.columns, rows, rows, 1}, sums.data(),
                Update::overwrite);
    for (std::int64_t r = 0; r < rows; ++r) {
      W* row = c + (i + r) * n;
      for (std::int64_t j = 0; j < n; ++j) put(row[j], sums[j * rows + r], update);
    }
  }
}

constexpr std::int64_t rows_worth_transposing = 4;

}  // namespace

template <class W>
void sparse_times_dense(const SparseMatrix<W>& a, bool transposed, const MatrixView<W>& b, W* c,
                        Update update) {
  if (!transposed) return gather_rows(a, b, c, update);
  // The transpose of a column is a row, and costs nothing.
  if (b.columns == 1) return scatter_rows(b.transposed(), a, c, update);
  gather_rows(TransposedMatrix<W>(a).view(), b, c, update);
}

template <class W>
void dense_times_sparse(const MatrixView<W>& a, const SparseMatrix<W>& b, bool transposed, W* c,
                        Update update) {
  if (transposed) return multiply_strips(a, b, c, update);
  if (a.rows < rows_worth_transposing) return scatter_rows(a, b, c, update);
  multiply_strips(a, TransposedMatrix<W>(b).view(), c, update);
}

// NOLINTBEGIN(bugprone-macro-parentheses): W is a type
#define TESSERA_INSTANTIATE(W)                                                             \
  template class TransposedMatrix<W>;                                                      \
  template void sparse_times_dense(const SparseMatrix<W>&, bool, const MatrixView<W>&, W*, \
                                   Update);                                                \
  template void dense_times_sparse(const MatrixView<W>&, const SparseMatrix<W>&, bool, W*, Update);
TESSERA_FOR_WORKING_TYPES(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace tessera
