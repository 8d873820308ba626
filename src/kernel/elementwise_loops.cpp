#include "kernel/elementwise_loops.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/stop.h"
#include "kernel/form/operations.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// Something that a traversal walks through: its dimensions of extent 1 and those it is broadcast
/// along have stride 0.
struct Walker {
  const std::byte* first = nullptr;
  std::int64_t element_bytes = 0;
  Strides strides = {};
};

/// A loop nest over a result and its operands, which all have the same extents.
struct Traversal {
  Strides extents;  // the last is the innermost
  std::vector<Walker> walkers;

  bool can_merge(const Strides& outer, std::int64_t inner_extent, const Strides& inner) const {
    for (std::size_t w = 0; w < walkers.size(); ++w)
      if (outer[w] != inner_extent * inner[w]) return false;
    return true;
  }

  /// The nest with one dimension cut to `length` steps from `start`, or what there is of them.
  Traversal part(std::size_t dimension, std::int64_t start, std::int64_t length) const {
    Traversal result = *this;
    result.extents[dimension] = std::min(length, extents[dimension] - start);
    for (Walker& walker : result.walkers)
      walker.first += start * walker.strides[dimension] * walker.element_bytes;
    return result;
  }
};

Walker walker_of(const Tile& tile, const Shape& shape) {
  const Tile spread = tile.broadcast(shape);
  return {spread.bytes_begin(), static_cast<std::int64_t>(size_of(tile.dtype())), spread.strides()};
}

/// Runs shorter than this cost more to start than to walk through.
constexpr std::int64_t short_run = 16;

/// The loop nest with as few dimensions as there can be: neighbours that every walker passes in
/// equal steps are one, and a long dimension goes inside where the last one is short.
Traversal collapse(const Shape& shape, const std::vector<Walker>& walkers) {
  Traversal nest{{}, walkers};
  std::vector<Strides> steps;  // of the walkers, a dimension each
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    Strides step;
    for (const Walker& walker : walkers) step.push_back(walker.strides[d]);
    if (!steps.empty() && nest.can_merge(steps.back(), shape[d], step)) {
      nest.extents[nest.extents.size() - 1] *= shape[d];
      steps.back() = step;
    } else {
      nest.extents.push_back(shape[d]);
      steps.push_back(step);
    }
  }
  if (steps.empty()) {
    nest.extents.push_back(1);
    steps.emplace_back(walkers.size(), 0);
  }
  if (nest.extents.back() < short_run) {
    const auto longest =
        std::max_element(nest.extents.begin(), nest.extents.end()) - nest.extents.begin();
    std::rotate(nest.extents.begin() + longest, nest.extents.begin() + longest + 1,
                nest.extents.end());
    std::rotate(steps.begin() + longest, steps.begin() + longest + 1, steps.end());
  }
  for (std::size_t w = 0; w < walkers.size(); ++w) {
    nest.walkers[w].strides.resize(0);
    for (const Strides& step : steps) nest.walkers[w].strides.push_back(step[w]);
  }
  return nest;
}

/// Calls body(runs, count) for each innermost run; runs[w] belongs to walker w. A long run is cut
/// into several, so that a stop is heard between them.
template <class Body>
void walk(const Traversal& nest, StopPoll& poll, Body&& body) {
  constexpr std::int64_t longest = std::int64_t{1} << 18;
  const std::size_t inner = nest.extents.size() - 1;
  if (nest.extents[inner] > longest) {
    for (std::int64_t i = 0; i < nest.extents[inner]; i += longest)
      walk(nest.part(inner, i, longest), poll, body);
    return;
  }
  std::vector<Run> runs;
  for (const Walker& walker : nest.walkers) runs.push_back({walker.first, walker.strides[inner]});
  const auto advance = [&](std::size_t dimension, std::int64_t steps) {
    for (std::size_t w = 0; w < runs.size(); ++w)
      runs[w].first += steps * nest.walkers[w].strides[dimension] * nest.walkers[w].element_bytes;
  };
  Strides index(inner, 0);
  for (bool more = true; more;) {
    body(runs.data(), nest.extents[inner]);
    poll.passed(nest.extents[inner]);
    more = false;
    for (std::size_t d = inner; d-- > 0 && !more;) {
      more = ++index[d] < nest.extents[d];
      advance(d, more ? 1 : 1 - nest.extents[d]);
      if (!more) index[d] = 0;
    }
  }
}

/// The dimension along which a walker takes smaller steps than along the innermost one, as in a
/// transposed operand; the innermost one itself if there is none.
std::size_t transposed_dimension(const Traversal& nest) {
  const std::size_t inner = nest.extents.size() - 1;
  std::size_t nearest = inner;
  for (const Walker& walker : nest.walkers)
    for (std::size_t d = 0; d < inner; ++d)
      if (walker.strides[d] != 0 && std::abs(walker.strides[d]) < std::abs(walker.strides[nearest]))
        nearest = d;
  return nearest;
}

/// Walks through all runs. Where a walker is transposed, it uses one element of each cache line
/// that an innermost run touches: blocks let the next runs find the others still in cache.
template <class Body>
void for_each_run(const Traversal& nest, Body&& body) {
  constexpr std::int64_t block = 128;
  const std::size_t inner = nest.extents.size() - 1;
  const std::size_t across = transposed_dimension(nest);
  StopPoll poll("elements were computed");
  if (across == inner) return walk(nest, poll, body);
  for (std::int64_t i = 0; i < nest.extents[across]; i += block) {
    const Traversal rows = nest.part(across, i, block);
    for (std::int64_t j = 0; j < nest.extents[inner]; j += block)
      walk(rows.part(inner, j, block), poll, body);
  }
}

/// Results from this size on do not stay in cache until they are read, so they need not pass
/// through it: a plain store would first read the line that it overwrites.
constexpr std::int64_t streaming_bytes = std::int64_t{16} << 20;
constexpr std::int64_t stage_bytes = 1024;

/// Copies to memory past the caches.
void stream(std::byte* target, const std::byte* source, std::int64_t bytes) {
  constexpr std::int64_t line = 64;
  const auto misaligned =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(target) % line);
  const std::int64_t head = std::min(bytes, misaligned == 0 ? 0 : line - misaligned);
  std::memcpy(target, source, head);
  std::int64_t i = head;
  for (; i + line <= bytes; i += line) {
    const auto* from = reinterpret_cast<const __m128i*>(source + i);
    auto* to = reinterpret_cast<__m128i*>(target + i);
    for (int part = 0; part < 4; ++part) _mm_stream_si128(to + part, _mm_loadu_si128(from + part));
  }
  std::memcpy(target + i, source + i, bytes - i);
}

/// Runs a loop piece by piece into a stage that stays in the nearest cache, and streams it out.
void run_streaming(Loop loop, std::byte* result, std::int64_t result_bytes, const Run* operands,
                   const std::vector<Walker>& walkers, std::int64_t count) {
  alignas(64) std::array<std::byte, stage_bytes> stage;
  const std::int64_t piece = stage_bytes / result_bytes;
  std::array<Run, max_operands> pieces;
  const std::size_t operand_count = walkers.size() - 1;
  std::copy_n(operands, operand_count, pieces.begin());
  for (std::int64_t start = 0; start < count; start += piece) {
    const std::int64_t length = std::min(piece, count - start);
    loop(stage.data(), 1, pieces.data(), length);
    stream(result + start * result_bytes, stage.data(), length * result_bytes);
    for (std::size_t w = 0; w < operand_count; ++w)
      pieces[w].first += length * pieces[w].stride * walkers[w + 1].element_bytes;
  }
}

template <class T>
void add_run(T* __restrict target, std::int64_t stride, const T* source, std::int64_t step,
             std::int64_t count) {
  const Add add;
  if (stride == 1 && step == 1) {
    for (std::int64_t i = 0; i < count; ++i) target[i] = add(target[i], source[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      target[i * stride] = add(target[i * stride], source[i * step]);
  }
}

template <class T>
void scatter_into(T* target, const Tile& sparse) {
  const std::int64_t width = sparse_extent(sparse.type());
  const T* values = sparse.values<T>();
  StopPoll poll("entries were added");
  for (std::int64_t row = 0; row < sparse.rows(); ++row, target += width) {
    poll.passed(1 + sparse.offsets()[row + 1] - sparse.offsets()[row]);
    for (std::int64_t e = sparse.offsets()[row]; e < sparse.offsets()[row + 1]; ++e) {
      T& element = target[sparse.coordinates()[e]];
      if constexpr (std::is_same_v<T, bool>)
        element = true;
      else
        element = Add()(element, values[e]);
    }
  }
}

}  // namespace

Tile map_elements(Loop loop, DType dtype, const Shape& shape, std::span<const Tile> operands) {
  MutableTile result = MutableTile::uninitialized(dtype, shape);
  if (result.elements() == 0) return std::move(result).publish();
  const auto element_bytes = static_cast<std::int64_t>(size_of(dtype));
  std::vector<Walker> walkers = {{result.bytes_begin(), element_bytes, row_major_strides(shape)}};
  for (const Tile& operand : operands) walkers.push_back(walker_of(operand, shape));
  const Traversal nest = collapse(shape, walkers);
  const bool streaming =
      result.elements() * element_bytes >= streaming_bytes && nest.walkers[0].strides.back() == 1;
  for_each_run(nest, [&](const Run* runs, std::int64_t count) {
    // The walkers only read; the result is ours to write.
    auto* target = const_cast<std::byte*>(runs[0].first);  // NOLINT
    if (streaming && count * element_bytes >= stage_bytes)
      run_streaming(loop, target, element_bytes, runs + 1, walkers, count);
    else
      loop(target, runs[0].stride, runs + 1, count);
  });
  if (streaming) _mm_sfence();
  return std::move(result).publish();
}

void add_into(MutableTile& accumulator, const Tile& tile) {
  TESSERA_INVARIANT(accumulator.shape() == tile.shape(), "{} and {}",
                    to_string(accumulator.shape()), to_string(tile.shape()));
  if (accumulator.elements() == 0) return;
  const Tile addend = tile.dtype() == accumulator.dtype() ? tile : tile.cast(accumulator.dtype());
  visit_dtype(accumulator.dtype(), [&]<class T>() {
    T* target = accumulator.data<T>();
    if (addend.is_sparse()) {
      scatter_into(target, addend);
      return;
    }
    const Shape& shape = tile.shape();
    const Traversal nest =
        collapse(shape, {{accumulator.bytes_begin(), sizeof(T), row_major_strides(shape)},
                         walker_of(addend, shape)});
    for_each_run(nest, [&](const Run* runs, std::int64_t count) {
      auto* to = const_cast<std::byte*>(runs[0].first);  // NOLINT: the accumulator is ours
      add_run(reinterpret_cast<T*>(to), runs[0].stride, reinterpret_cast<const T*>(runs[1].first),
              runs[1].stride, count);
    });
  });
}

}  // namespace tessera
