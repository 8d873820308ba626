#pragma once

#include <array>
#include <cstdint>

namespace tessera {

/// Depth, height and width; a convolution of fewer dimensions has extents of 1 in front.
using Volume = std::array<std::int64_t, 3>;

inline std::int64_t elements_of(const Volume& volume) { return volume[0] * volume[1] * volume[2]; }

/// A convolution in numbers. All arrays are row-major without gaps: the input is
/// [images, channels, input], the weights are [filters, channels, window], the output is
/// [images, filters, output].
///   output[n, f, p] = sum over c, q of input[n, c, stride * p + q - padding] * weights[f, c, q]
/// where the input is zero outside its extents.
struct ConvolutionExtents {
  std::int64_t images = 1;
  std::int64_t channels = 0;
  std::int64_t filters = 0;
  Volume input = {1, 1, 1};
  Volume window = {1, 1, 1};
  Volume output = {1, 1, 1};
  Volume stride = {1, 1, 1};
  Volume padding = {0, 0, 0};

  std::int64_t input_elements() const { return images * channels * elements_of(input); }
  std::int64_t weight_elements() const { return filters * channels * elements_of(window); }
  std::int64_t output_elements() const { return images * filters * elements_of(output); }
};

/// The convolution as products of matrices: the windows of some output positions are laid out as
/// the columns of a matrix (im2col), which the weights multiply from the left. For double, float
/// and std::uint64_t, which is how i64 wraps.
template <class W>
void convolve_by_products(const ConvolutionExtents& extents, const W* input, const W* weights,
                          W* output);

}  // namespace tessera
