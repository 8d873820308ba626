#pragma once

#include <cstdint>

#include "kernel/dot.h"
#include "kernel/gemm.h"
#include "tessera/tile.h"
#include "tile/buffer.h"

/// Makes the templates that `MAKE(W)` names, for each type that products work in.
#define TESSERA_FOR_WORKING_TYPES(MAKE) \
  MAKE(float)                           \
  MAKE(double)                          \
  MAKE(std::uint64_t)                   \
  MAKE(std::uint8_t)

namespace tessera {

/// A matrix in compressed rows: row i owns the entries offsets[i] to offsets[i+1]-1, in increasing
/// order of their coordinates. Boolean matrices have no values: what is stored is true.
template <class W>
struct SparseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::int64_t* offsets = nullptr;
  const std::int64_t* coordinates = nullptr;
  const W* values = nullptr;

  std::int64_t begin(std::int64_t row) const { return offsets[row]; }
  std::int64_t end(std::int64_t row) const { return offsets[row + 1]; }
  std::int64_t stored() const { return offsets[rows] - offsets[0]; }
  SparseVector<W> row(std::int64_t i) const {
    return {coordinates + begin(i), is_or_and<W> ? nullptr : values + begin(i), end(i) - begin(i)};
  }
};

/// A sparse tile whose last dimension is its only compressed one, as a matrix of all its rows.
template <class W>
SparseMatrix<W> compressed_rows(const Tile& tile) {
  return {tile.rows(), tile.shape().back(), tile.offsets(), tile.coordinates(),
          reinterpret_cast<const W*>(tile.bytes_begin())};
}

/// The transpose of a sparse matrix, in storage of its own: a counting sort by column.
template <class W>
class TransposedMatrix {
 public:
  explicit TransposedMatrix(const SparseMatrix<W>& matrix);
  SparseMatrix<W> view() const {
    return {rows_, columns_, offsets_.data(), coordinates_.data(), values_.data()};
  }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  BufferVector<std::int64_t> offsets_;
  BufferVector<std::int64_t> coordinates_;
  BufferVector<W> values_;
};

/// c = a b or c += a b with a dense row-major c. `transposed` reads the sparse operand across.
/// What is not stored contributes nothing, not even against NaN or infinity.
template <class W>
void sparse_times_dense(const SparseMatrix<W>& a, bool transposed, const MatrixView<W>& b, W* c,
                        Update update);
template <class W>
void dense_times_sparse(const MatrixView<W>& a, const SparseMatrix<W>& b, bool transposed, W* c,
                        Update update);

}  // namespace tessera
