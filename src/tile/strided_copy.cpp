#include "tile/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "base/stop.h"
#include "tile/convert.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

constexpr std::int64_t block = 32;  // two blocks of 8-byte elements stay in a 32 KiB cache

/// A plane of the copy: `rows` x `columns`, the target row-major with a row length of its own.
template <class To, class From>
void copy_plane(const From* source, std::int64_t row_stride, std::int64_t column_stride, To* target,
                std::int64_t target_row_stride, std::int64_t rows, std::int64_t columns,
                StopPoll& poll) {
  constexpr std::int64_t longest = std::int64_t{1} << 20;  // row, between two looks for a stop
  if (column_stride == 1 || rows == 1) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j0 = 0; j0 < columns; j0 += longest) {
        const From* from = source + i * row_stride + j0 * column_stride;
        To* to = target + i * target_row_stride + j0;
        const std::int64_t count = std::min(longest, columns - j0);
        poll.passed(count);
        if (std::is_same_v<To, From> && column_stride == 1)
          std::memcpy(to, from, count * sizeof(To));
        else
          for (std::int64_t j = 0; j < count; ++j) to[j] = convert<To>(from[j * column_stride]);
      }
    return;
  }
  // The source runs along rows while the target runs along columns: blocks keep both in cache.
  for (std::int64_t i0 = 0; i0 < rows; i0 += block)
    for (std::int64_t j0 = 0; j0 < columns; j0 += block) {
      poll.passed(block * block);
      for (std::int64_t i = i0; i < std::min(rows, i0 + block); ++i)
        for (std::int64_t j = j0; j < std::min(columns, j0 + block); ++j)
          target[i * target_row_stride + j] =
              convert<To>(source[i * row_stride + j * column_stride]);
    }
}

template <class To, class From>
void copy(const From* source, const Shape& shape, const Strides& strides, To* target,
          StopPoll& poll) {
  const int rank = shape.rank();
  if (rank == 0) {
    *target = convert<To>(*source);
    return;
  }
  // The plane has the last dimension as its columns and, as its rows, the one that the source
  // walks in the smallest steps, so that a transposed matrix is one plane.
  const Strides target_strides = row_major_strides(shape);
  int row_dim = -1;
  for (int i = 0; i + 1 < rank; ++i)
    if (shape[i] > 1 && (row_dim < 0 || std::abs(strides[i]) < std::abs(strides[row_dim])))
      row_dim = i;
  const std::int64_t rows = row_dim < 0 ? 1 : shape[row_dim];
  const std::int64_t row_stride = row_dim < 0 ? 0 : strides[row_dim];
  const std::int64_t target_row_stride = row_dim < 0 ? 0 : target_strides[row_dim];

  Index index(rank, 0);
  for (bool more = true; more;) {
    std::int64_t from = 0;
    std::int64_t to = 0;
    for (int i = 0; i < rank; ++i) {
      from += index[i] * strides[i];
      to += index[i] * target_strides[i];
    }
    copy_plane(source + from, row_stride, strides[rank - 1], target + to, target_row_stride, rows,
               shape[rank - 1], poll);
    more = false;
    for (int i = rank - 2; i >= 0 && !more; --i) {
      if (i == row_dim) continue;
      more = ++index[i] < shape[i];
      if (!more) index[i] = 0;
    }
  }
}

}  // namespace

void copy_to_row_major(const Tile& source, DType dtype, std::byte* target) {
  if (source.elements() == 0) return;
  StopPoll poll("a tile was copied");
  visit_dtype(source.dtype(), [&]<class From>() {
    visit_dtype(dtype, [&]<class To>() {
      if (source.is_contiguous())  // one long row, whatever the rank
        copy_plane(source.data<From>(), 0, 1, reinterpret_cast<To*>(target), 0, 1,
                   source.elements(), poll);
      else
        copy(source.data<From>(), source.shape(), source.strides(), reinterpret_cast<To*>(target),
             poll);
    });
  });
}

}  // namespace tessera
