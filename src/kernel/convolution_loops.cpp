#include "kernel/convolution_loops.h"

#include <algorithm>

#include "base/stop.h"
#include "kernel/gemm.h"
#include "tile/buffer.h"

namespace tessera {
namespace {

constexpr std::int64_t window_bytes = std::int64_t{1} << 19;  // stays in a second-level cache

/// Where one element of the window falls, for one output position after another.
template <class W>
struct WindowElement {
  const ConvolutionExtents& extents;
  const W* channel;  // the input plane it is read from
  Volume place;      // in the window

  /// The input coordinate in dimension `d` below the output coordinate `at`.
  std::int64_t coordinate(int d, std::int64_t at) const {
    return at * extents.stride[d] + place[d] - extents.padding[d];
  }
  bool is_inside(int d, std::int64_t at) const { return at >= 0 && at < extents.input[d]; }

  /// Writes the input element for each of `count` outputs of one line, from `first` on.
  void gather_line(std::int64_t z, std::int64_t y, std::int64_t first, std::int64_t count,
                   W* to) const {
    const std::int64_t from_z = coordinate(0, z);
    const std::int64_t from_y = coordinate(1, y);
    if (!is_inside(0, from_z) || !is_inside(1, from_y)) {
      std::fill_n(to, count, W{});
      return;
    }
    const std::int64_t width = extents.input[2];
    const std::int64_t step = extents.stride[2];
    const std::int64_t from_x = coordinate(2, first);
    // Outputs before `inside` read left of the line, those from `outside` on right of it.
    const auto steps_to = [&](std::int64_t x) {
      return x <= from_x ? 0 : (x - from_x + step - 1) / step;
    };
    const std::int64_t inside = std::min(count, steps_to(0));
    const std::int64_t outside = std::min(count, steps_to(width));
    const W* line = channel + (from_z * extents.input[1] + from_y) * width;
    std::fill(to, to + inside, W{});
    if (step == 1)
      std::copy(line + from_x + inside, line + from_x + outside, to + inside);
    else
      for (std::int64_t i = inside; i < outside; ++i) to[i] = line[from_x + i * step];
    std::fill(to + outside, to + count, W{});
  }

  void gather(std::int64_t begin, std::int64_t end, W* to) const {
    const auto [depth, height, width] = extents.output;
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t line = at / width;
      const std::int64_t x = at % width;
      const std::int64_t count = std::min(width - x, end - at);
      gather_line(line / height, line % height, x, count, to);
      at += count;
      to += count;
    }
  }
};

/// The matrix with a row for each weight of a filter and a column for each output position in
/// [begin, end).
template <class W>
void gather_windows(const ConvolutionExtents& extents, const W* image, std::int64_t begin,
                    std::int64_t end, W* to) {
  for (std::int64_t c = 0; c < extents.channels; ++c)
    for (std::int64_t z = 0; z < extents.window[0]; ++z)
      for (std::int64_t y = 0; y < extents.window[1]; ++y)
        for (std::int64_t x = 0; x < extents.window[2]; ++x) {
          const W* channel = image + c * elements_of(extents.input);
          WindowElement<W>{extents, channel, {z, y, x}}.gather(begin, end, to);
          to += end - begin;
        }
}

}  // namespace

template <class W>
void convolve_by_products(const ConvolutionExtents& extents, const W* input, const W* weights,
                          W* output) {
  const std::int64_t depth = extents.channels * elements_of(extents.window);
  const std::int64_t positions = elements_of(extents.output);
  const std::int64_t filters = extents.filters;
  const auto fitting =
      window_bytes / static_cast<std::int64_t>(sizeof(W)) / std::max(depth, std::int64_t{1});
  const std::int64_t step = std::min(positions, std::max(fitting, std::int64_t{64}));
  BufferVector<W> windows(depth * step);
  BufferVector<W> products(step < positions ? filters * step : 0);
  const MatrixView<W> left{weights, filters, depth, depth, 1};
  for (std::int64_t n = 0; n < extents.images; ++n) {
    const W* image = input + n * extents.channels * elements_of(extents.input);
    W* result = output + n * filters * positions;
    for (std::int64_t begin = 0; begin < positions; begin += step) {
      const std::int64_t count = std::min(step, positions - begin);
      refuse_if_stopped("a convolution was computed");
      gather_windows(extents, image, begin, begin + count, windows.data());
      const MatrixView<W> right{windows.data(), depth, count, count, 1};
      if (count == positions) {
        gemm(left, right, result, Update::overwrite);
        continue;
      }
      gemm(left, right, products.data(), Update::overwrite);
      for (std::int64_t f = 0; f < filters; ++f)
        std::copy_n(products.data() + f * count, count, result + f * positions + begin);
    }
  }
}

template void convolve_by_products(const ConvolutionExtents&, const float*, const float*, float*);
template void convolve_by_products(const ConvolutionExtents&, const double*, const double*,
                                   double*);
template void convolve_by_products(const ConvolutionExtents&, const std::uint64_t*,
                                   const std::uint64_t*, std::uint64_t*);

}  // namespace tessera
