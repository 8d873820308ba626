#include "kernel/softmax.h"

#include <cmath>

#include "base/check.h"
#include "base/stop.h"
#include "kernel/form/operations.h"

namespace tessera {
namespace {

template <class T>
void softmax_row(const T* row, T* result, std::int64_t length) {
  T highest = row[0];
  for (std::int64_t i = 1; i < length; ++i) highest = Maximum()(highest, row[i]);
  double total = 0;
  in_pieces(length, "a softmax was computed", [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      result[i] = std::exp(row[i] - highest);
      total += result[i];
    }
  });
  const T divisor = static_cast<T>(total);
  for (std::int64_t i = 0; i < length; ++i) result[i] /= divisor;
}

template <class T>
void softmax_rows(const Tile& tile, MutableTile& result) {
  const std::int64_t length = tile.shape().back();
  const T* from = tile.data<T>();
  T* to = result.data<T>();
  StopPoll poll("a softmax was computed");
  for (std::int64_t start = 0; start < tile.elements(); start += length) {
    poll.passed(4 * length);
    softmax_row(from + start, to + start, length);
  }
}

}  // namespace

Tile row_softmax(const Tile& tile) {
  const Tile rows = tile.contiguous();
  MutableTile result = MutableTile::uninitialized(rows.dtype(), rows.shape());
  if (rows.dtype() == DType::f32)
    softmax_rows<float>(rows, result);
  else
    softmax_rows<double>(rows, result);
  return std::move(result).publish();
}

}  // namespace tessera
