#include "kernel/reduction_traversal.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/check.h"
#include "base/stop.h"
#include "tile/buffer.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// A dimension of the tile, and how far a step along it moves: in the tile's memory, among the
/// cells of the result (0 if it is reduced), among the indices (0 if it stays). In elements.
struct Dimension {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
  std::int64_t cell_stride = 0;
  std::int64_t index_stride = 0;
};
using Dimensions = std::vector<Dimension>;

/// Appends a dimension, as one with its predecessor where equal steps pass through both.
void append(Dimensions& dimensions, const Dimension& next) {
  if (next.extent == 1) return;
  if (!dimensions.empty()) {
    Dimension& last = dimensions.back();
    if (last.stride == next.extent * next.stride &&
        last.cell_stride == next.extent * next.cell_stride &&
        last.index_stride == next.extent * next.index_stride) {
      const std::int64_t extent = last.extent * next.extent;
      last = next;
      last.extent = extent;
      return;
    }
  }
  dimensions.push_back(next);
}

bool is_reduced(const std::vector<int>& axes, int dimension) {
  return std::binary_search(axes.begin(), axes.end(), dimension);
}

/// The dimensions of the tile in order, not yet collapsed.
Dimensions dimensions_of(const Tile& tile, const std::vector<int>& axes) {
  Dimensions result(tile.rank());
  std::int64_t cells = 1;
  std::int64_t indices = 1;
  for (int d = tile.rank() - 1; d >= 0; --d) {
    const bool reduced = is_reduced(axes, d);
    std::int64_t& steps = reduced ? indices : cells;
    result[d].extent = tile.shape()[d];
    result[d].stride = tile.is_sparse() ? 0 : tile.strides()[d];
    (reduced ? result[d].index_stride : result[d].cell_stride) = steps;
    steps *= tile.shape()[d];
  }
  return result;
}

/// Calls body(offset in memory, cell, index) at every position of a loop nest, in row-major order.
template <class Body>
void for_each_position(const Dimensions& nest, Body&& body) {
  std::vector<std::int64_t> position(nest.size(), 0);
  std::int64_t offset = 0;
  std::int64_t cell = 0;
  std::int64_t index = 0;
  for (bool more = true; more;) {
    body(offset, cell, index);
    more = false;
    for (std::size_t d = nest.size(); d-- > 0 && !more;) {
      more = ++position[d] < nest[d].extent;
      const std::int64_t steps = more ? 1 : 1 - nest[d].extent;
      offset += steps * nest[d].stride;
      cell += steps * nest[d].cell_stride;
      index += steps * nest[d].index_stride;
      if (!more) position[d] = 0;
    }
  }
}

/// A walk through a dense tile: outer loops over what stays, then over what is reduced, then the
/// loop of the reducer, along a reduced dimension (one cell at a time) or across one that stays
/// (a strip of cells at a time, so that memory is read in the order in which it lies).
struct DensePlan {
  Dimensions kept;
  Dimensions reduced;
  Dimension inner;
  Dimension rows;  // the last reduced dimension, where the inner loop is across
  bool across = false;
};

DensePlan plan_dense(const Tile& tile, const std::vector<int>& axes) {
  constexpr std::int64_t short_run = 16;  // starting a shorter run costs more than running it
  DensePlan plan;
  const Dimensions all = dimensions_of(tile, axes);
  for (int d = 0; d < tile.rank(); ++d)
    append(is_reduced(axes, d) ? plan.reduced : plan.kept, all[d]);
  const auto nearest = std::min_element(plan.kept.begin(), plan.kept.end(),
                                        [](const Dimension& a, const Dimension& b) {
                                          return std::abs(a.stride) < std::abs(b.stride);
                                        });
  if (nearest != plan.kept.end() && nearest->extent >= short_run) {
    const bool runs_are_short = plan.reduced.empty() || plan.reduced.back().extent < short_run;
    plan.across =
        runs_are_short || std::abs(nearest->stride) < std::abs(plan.reduced.back().stride);
  }
  if (plan.across) {
    plan.inner = *nearest;
    plan.kept.erase(nearest);
  }
  if (!plan.reduced.empty()) {
    // Elements come in order of their indices, so the last reduced dimension is the inner one.
    (plan.across ? plan.rows : plan.inner) = plan.reduced.back();
    plan.reduced.pop_back();
  }
  return plan;
}

void reduce_dense(const Tile& tile, const std::vector<int>& axes, const Reducer& reducer,
                  std::int64_t reduced_elements, std::byte* results) {
  constexpr std::int64_t strip = 4096;  // of cells, whose states stay in the second cache
  const auto element_bytes = static_cast<std::int64_t>(size_of(tile.dtype()));
  const auto result_bytes = static_cast<std::int64_t>(size_of(reducer.result));
  const DensePlan plan = plan_dense(tile, axes);
  const Dimension& inner = plan.inner;
  BufferVector<std::byte> states(strip * reducer.state_bytes);
  BufferVector<std::byte> finished(strip * result_bytes);
  StopPoll poll("elements were reduced");

  for_each_position(plan.kept, [&](std::int64_t kept_offset, std::int64_t cell, std::int64_t) {
    const std::byte* base = tile.bytes_begin() + kept_offset * element_bytes;
    const std::int64_t width = plan.across ? inner.extent : 1;
    for (std::int64_t start = 0; start < width; start += strip) {
      const std::int64_t cells = std::min(strip, width - start);
      const std::byte* first = plan.across ? base + start * inner.stride * element_bytes : base;
      reducer.start(states.data(), cells);
      for_each_position(plan.reduced, [&](std::int64_t offset, std::int64_t, std::int64_t index) {
        const std::byte* from = first + offset * element_bytes;
        poll.passed(plan.across ? cells * plan.rows.extent : inner.extent);
        if (plan.across)
          reducer.add_across(states.data(), cells, from, inner.stride,
                             {plan.rows.extent, plan.rows.stride, index});
        else
          reducer.add_run(states.data(), from, inner.stride, inner.extent, index);
      });
      reducer.finish(states.data(), cells, reduced_elements, finished.data());
      for (std::int64_t i = 0; i < cells; ++i) {
        const std::int64_t to = cell + (plan.across ? (start + i) * inner.cell_stride : 0);
        std::copy_n(finished.data() + i * result_bytes, result_bytes, results + to * result_bytes);
      }
    }
  });
}

/// Where a linear position within some dimensions lies in the result.
struct Place {
  std::int64_t cell = 0;
  std::int64_t index = 0;
};

Place place_of(const Dimensions& dimensions, std::int64_t position) {
  Place place;
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    const Dimension& dimension = dimensions[d];
    const std::int64_t step = d == 0 ? position : position % dimension.extent;
    position = d == 0 ? 0 : position / dimension.extent;
    place.cell += step * dimension.cell_stride;
    place.index += step * dimension.index_stride;
  }
  return place;
}

/// The values of some entries; of a sparse boolean tile all that is stored is true.
class StoredValues {
 public:
  static constexpr std::int64_t batch = 256;

  explicit StoredValues(const Tile& tile)
      : values_(tile.bytes_begin()),
        value_bytes_(static_cast<std::int64_t>(size_of(tile.dtype()))),
        is_boolean_(tile.dtype() == DType::boolean) {
    trues_.fill(true);
  }
  /// At least `batch` values from an entry on, or all there are.
  const std::byte* from(std::int64_t entry) const {
    if (is_boolean_) return reinterpret_cast<const std::byte*>(trues_.data());
    return values_ + entry * value_bytes_;
  }

 private:
  const std::byte* values_;
  std::int64_t value_bytes_;
  bool is_boolean_;
  std::array<bool, batch> trues_;
};

/// Every entry goes to its cell, and then each cell that has positions not stored gets one zero:
/// no reduction but a sum or a count asks how many there are, and to those zeros do not matter.
/// The indices of a cell's entries come in increasing order, so that counting on while they are
/// consecutive from 0 finds the first position that is not stored.
void reduce_sparse(const Tile& tile, const std::vector<int>& axes, const Reducer& reducer,
                   std::int64_t cells, std::int64_t reduced_elements, std::byte* results) {
  const Dimensions all = dimensions_of(tile, axes);
  Dimensions row_dimensions;
  Dimensions entry_dimensions;
  for (int d = 0; d < tile.rank(); ++d)
    append(d < tile.dense_dims() ? row_dimensions : entry_dimensions, all[d]);
  bool rows_are_runs = !reducer.uses_index;
  for (const Dimension& dimension : entry_dimensions)
    rows_are_runs = rows_are_runs && dimension.cell_stride == 0;

  BufferVector<std::byte> states(cells * reducer.state_bytes);
  std::vector<std::int64_t> first_missing(cells, 0);
  reducer.start(states.data(), cells);
  const StoredValues values(tile);
  constexpr std::int64_t batch = StoredValues::batch;
  std::array<std::int64_t, batch> entry_cells;
  std::array<std::int64_t, batch> entry_indices;
  StopPoll poll("entries were reduced");
  for (std::int64_t row = 0; row < tile.rows(); ++row) {
    poll.passed(1);
    const Place base = place_of(row_dimensions, row);
    const std::int64_t end = tile.offsets()[row + 1];
    for (std::int64_t begin = tile.offsets()[row]; begin < end; begin += batch) {
      const std::int64_t count = std::min(batch, end - begin);
      poll.passed(count);
      if (rows_are_runs) {
        // Where no index is asked for, how many positions are stored says whether one is missing.
        std::byte* state =
            states.data() + base.cell * static_cast<std::int64_t>(reducer.state_bytes);
        reducer.add_run(state, values.from(begin), 1, count, 0);
        first_missing[base.cell] += count;
        continue;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const Place place = place_of(entry_dimensions, tile.coordinates()[begin + i]);
        entry_cells[i] = base.cell + place.cell;
        entry_indices[i] = base.index + place.index;
        std::int64_t& missing = first_missing[entry_cells[i]];
        missing += entry_indices[i] == missing;
      }
      reducer.add_entries(states.data(), entry_cells.data(), entry_indices.data(),
                          values.from(begin), count);
    }
  }
  alignas(8) const std::array<std::byte, 8> zero_of_any_dtype = {};
  for (std::int64_t cell = 0; cell < cells; ++cell)
    if (first_missing[cell] < reduced_elements)
      reducer.add_entries(states.data(), &cell, &first_missing[cell], zero_of_any_dtype.data(), 1);
  reducer.finish(states.data(), cells, reduced_elements, results);
}

}  // namespace

Tile reduce(const Tile& tile, const std::vector<int>& axes, const Reducer& reducer) {
  Shape kept;
  Shape reduced;
  for (int d = 0; d < tile.rank(); ++d)
    (is_reduced(axes, d) ? reduced : kept).push_back(tile.shape()[d]);
  MutableTile result = MutableTile::uninitialized(reducer.result, kept);
  const std::int64_t cells = result.elements();
  const std::int64_t reduced_elements = reduced.elements();
  if (cells == 0) return std::move(result).publish();
  if (reduced_elements == 0) {
    BufferVector<std::byte> states(cells * reducer.state_bytes);
    reducer.start(states.data(), cells);
    reducer.finish(states.data(), cells, 0, result.bytes_begin());
  } else if (tile.is_sparse()) {
    reduce_sparse(tile, axes, reducer, cells, reduced_elements, result.bytes_begin());
  } else {
    reduce_dense(tile, axes, reducer, reduced_elements, result.bytes_begin());
  }
  return std::move(result).publish();
}

}  // namespace tessera
