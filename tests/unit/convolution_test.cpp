#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernel/convolution_loops.h"
#include "support/expectations.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

using Integers = std::vector<std::int64_t>;

using Place = std::array<std::int64_t, 3>;  // depth, height, width

/// The elements of [outer, inner, place] or [inner, place], whose place has 1 to 3 dimensions.
class Grid {
 public:
  Grid(const Tile& tile, int dims) : values_(tile.dense().cast(DType::f64)) {
    const Shape& shape = tile.shape();
    inner_ = shape[shape.size() - dims - 1];
    for (int d = 3 - dims; d < 3; ++d) extents_[d] = shape[shape.size() - 3 + d];
  }
  const Place& extents() const { return extents_; }
  /// Zero outside.
  double at(std::int64_t outer, std::int64_t inner, const Place& place) const {
    std::int64_t position = outer * inner_ + inner;
    for (int d = 0; d < 3; ++d) {
      if (place[d] < 0 || place[d] >= extents_[d]) return 0;
      position = position * extents_[d] + place[d];
    }
    return first_[position];
  }

 private:
  Tile values_;
  const double* first_ = values_.data<double>();
  std::int64_t inner_ = 0;
  Place extents_ = {1, 1, 1};
};

/// The definition, with every sum written out. One image or a batch.
Tile naive(const Tile& input, const Tile& weights, Integers stride, Integers padding) {
  const int dims = weights.rank() - 2;
  const bool batched = input.rank() == weights.rank();
  const std::int64_t images = batched ? input.shape()[0] : 1;
  const std::int64_t filters = weights.shape()[0];
  stride.insert(stride.begin(), 3 - dims, 1);
  padding.insert(padding.begin(), 3 - dims, 0);
  const Grid in(input, dims);
  const Grid kernel(weights, dims);
  const Place window = kernel.extents();
  Place output = {1, 1, 1};
  Shape shape;
  if (batched) shape.push_back(images);
  shape.push_back(filters);
  for (int d = 3 - dims; d < 3; ++d) {
    output[d] = (in.extents()[d] + 2 * padding[d] - window[d]) / stride[d] + 1;
    shape.push_back(output[d]);
  }
  std::vector<double> values;
  for (std::int64_t n = 0; n < images; ++n)
    for (std::int64_t f = 0; f < filters; ++f)
      for (std::int64_t z = 0; z < output[0]; ++z)
        for (std::int64_t y = 0; y < output[1]; ++y)
          for (std::int64_t x = 0; x < output[2]; ++x) {
            double sum = 0;
            for (std::int64_t c = 0; c < weights.shape()[1]; ++c)
              for (std::int64_t i = 0; i < window[0]; ++i)
                for (std::int64_t j = 0; j < window[1]; ++j)
                  for (std::int64_t k = 0; k < window[2]; ++k) {
                    const Place from = {z * stride[0] + i - padding[0],
                                        y * stride[1] + j - padding[1],
                                        x * stride[2] + k - padding[2]};
                    sum += kernel.at(f, c, {i, j, k}) * in.at(n, c, from);
                  }
            values.push_back(sum);
          }
  return Tile::of<double>(shape, values);
}

/// Small integers, so that all sums are exact in every dtype and order.
Tile integers(DType dtype, const Shape& shape, std::uint64_t seed) {
  return random_integers(DType::i64, shape, seed, -4, 5).cast(dtype);
}

/// Compares all dtypes with the definition.
void check(const Shape& input, const Shape& weights, const Integers& stride,
           const Integers& padding) {
  const KernelCall conv("conv", {{"stride", stride}, {"padding", padding}});
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean}) {
    SCOPED_TRACE(std::string(to_string(dtype)) + " " + to_string(input) + " " + to_string(weights));
    const Tile a = integers(dtype, input, 1);
    const Tile w = integers(dtype, weights, 2);
    const Tile result = conv({a, w});
    const DType expected = dtype == DType::boolean ? DType::i64 : dtype;
    EXPECT_TILE_EQ(result, naive(a, w, stride, padding).cast(expected));
    EXPECT_EQ(conv.infer(std::array{a.type(), w.type()})[0], result.type());
  }
}

TEST(Convolution, OneDimension) {
  check({3, 10}, {4, 3, 3}, {1}, {0});
  check({2, 3, 10}, {4, 3, 3}, {2}, {1});
  check({1, 5}, {1, 1, 5}, {1}, {0});
  check({2, 1, 7}, {3, 1, 1}, {3}, {2});
}

TEST(Convolution, TwoDimensions) {
  check({3, 8, 9}, {4, 3, 3, 3}, {1, 1}, {0, 0});
  check({2, 3, 8, 9}, {4, 3, 3, 2}, {2, 1}, {1, 2});
  check({5, 20, 8, 8}, {17, 20, 3, 3}, {1, 1}, {1, 1});
  check({2, 18, 5, 6}, {4, 18, 1, 1}, {1, 1}, {0, 0});
  check({1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {0, 0});
}

TEST(Convolution, ThreeDimensions) {
  check({3, 6, 7, 5}, {10, 3, 3, 3, 3}, {1, 1, 1}, {0, 0, 0});
  check({2, 3, 6, 7, 5}, {10, 3, 3, 2, 1}, {1, 2, 3}, {1, 0, 2});
}

/// Wide enough that the windows do not fit one matrix.
TEST(Convolution, InSeveralProducts) { check({2, 120, 60}, {3, 2, 3, 3}, {1, 1}, {1, 1}); }

/// f32 goes this way if an image is larger than oneDNN can count.
TEST(Convolution, ProductsOfFloats) {
  const Tile a = integers(DType::f32, {2, 3, 9, 8}, 1);
  const Tile w = integers(DType::f32, {4, 3, 3, 2}, 2);
  MutableTile result = MutableTile::uninitialized(DType::f32, {2, 4, 4, 9});
  const ConvolutionExtents extents{.images = 2,
                                   .channels = 3,
                                   .filters = 4,
                                   .input = {1, 9, 8},
                                   .window = {1, 3, 2},
                                   .output = {1, 4, 9},
                                   .stride = {1, 2, 1},
                                   .padding = {0, 0, 1}};
  convolve_by_products(extents, a.data<float>(), w.data<float>(), result.data<float>());
  EXPECT_TILE_EQ(std::move(result).publish(), naive(a, w, {2, 1}, {0, 1}).cast(DType::f32));
}

TEST(Convolution, PaddingWiderThanTheInput) {
  check({2, 2, 3}, {2, 2, 3, 3}, {1, 1}, {4, 5});
  check({2, 1, 2}, {2, 2, 2, 2}, {7, 3}, {3, 3});
  check({2, 3}, {2, 2, 3}, {2000000000}, {2000000000});
}

TEST(Convolution, Aliases) {
  const Tile a = integers(DType::f32, {2, 9}, 1);
  const Tile w = integers(DType::f32, {3, 2, 2}, 2);
  for (const char* name : {"conv1d", "conv2d", "conv3d"})
    EXPECT_TILE_EQ(KernelCall(name)({a, w}), KernelCall("conv")({a, w}));
  EXPECT_TILE_EQ(KernelCall("conv(stride=2, padding=1)")({a, w}),
                 naive(a, w, {2}, {1}).cast(DType::f32));
}

TEST(Convolution, PromotesItsArguments) {
  const Tile a = integers(DType::i64, {2, 9}, 1);
  const Tile w = integers(DType::f32, {3, 2, 2}, 2);
  EXPECT_TILE_EQ(KernelCall("conv")({a, w}), naive(a, w, {1}, {0}));
  const Tile b = integers(DType::boolean, {2, 9}, 3);
  EXPECT_TILE_EQ(KernelCall("conv")({b, w}), naive(b, w, {1}, {0}).cast(DType::f32));
}

TEST(Convolution, StridedAndSparseArguments) {
  for (DType dtype : {DType::f32, DType::f64, DType::i64}) {
    const Tile a = integers(dtype, {9, 8, 3}, 1).transpose();
    const Tile w = integers(dtype, {3, 6, 3, 4}, 2)
                       .transpose()
                       .slice({0, 0, 0, 0}, {4, 3, 6, 3}, {1, 1, 2, 1});
    const Tile expected = naive(a, w, {1, 1}, {0, 0}).cast(dtype);
    EXPECT_TILE_EQ(KernelCall("conv")({a, w}), expected);
    EXPECT_TILE_EQ(KernelCall("conv")({a.with_sparse_dims(2), w}), expected);
    EXPECT_TILE_EQ(KernelCall("conv")({a, w.with_sparse_dims(1)}), expected);
    const std::array types = {a.with_sparse_dims(2).type(), w.type()};
    EXPECT_EQ(KernelCall("conv").infer(types)[0], expected.type());
  }
}

TEST(Convolution, EmptyExtents) {
  for (DType dtype : {DType::f32, DType::f64, DType::i64}) {
    const auto zeros = [&](const Shape& shape) { return Tile::zeros(dtype, shape); };
    const auto conv = [&](const Shape& a, const Shape& w) {
      return KernelCall("conv(padding=1)")({zeros(a), zeros(w)});
    };
    EXPECT_TILE_EQ(conv({0, 2, 5}, {3, 2, 3}), zeros({0, 3, 5}));  // no images
    EXPECT_TILE_EQ(conv({0, 5}, {3, 0, 3}), zeros({3, 5}));        // no channels
    EXPECT_TILE_EQ(conv({2, 5}, {0, 2, 3}), zeros({0, 5}));        // no filters
    EXPECT_TILE_EQ(conv({2, 0}, {3, 2, 2}), zeros({3, 1}));        // nothing but padding
  }
}

TEST(Convolution, IntegersWrap) {
  const std::int64_t large = std::int64_t{1} << 62;
  const Tile a = Tile::of<std::int64_t>({1, 3}, {large, large, -3});
  const Tile w = Tile::of<std::int64_t>({1, 1, 2}, {2, 2});
  EXPECT_TILE_EQ(KernelCall("conv")({a, w}),
                 Tile::of<std::int64_t>({1, 2}, {0, std::numeric_limits<std::int64_t>::max() - 5}));
}

/// A NaN or infinity reaches the windows that hold it, and no others.
TEST(Convolution, NotANumber) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tile a = Tile::of<double>({1, 8}, {1, 2, NAN, 4, 5, inf, 7, 8});
  const Tile w = Tile::of<double>({1, 1, 2}, {1, -1});
  const Tile expected = Tile::of<double>({1, 7}, {-1, NAN, NAN, -1, -inf, inf, -1});
  for (DType dtype : {DType::f32, DType::f64})
    EXPECT_TILE_EQ(KernelCall("conv")({a.cast(dtype), w.cast(dtype)}), expected.cast(dtype));
}

/// A batch above what is converted at a time, with a remainder.
TEST(Convolution, LargeBatches) {
  const Tile a = integers(DType::f32, {5, 1, 1500, 1500}, 1);
  const Tile w = integers(DType::f32, {2, 1, 2, 2}, 2);
  const Tile result = KernelCall("conv(stride=500)")({a, w});
  EXPECT_EQ(result.shape(), (Shape{5, 2, 3, 3}));
  const Tile whole = KernelCall("conv")({a, w});
  EXPECT_TILE_EQ(whole.slice({0, 0, 0, 0}, {5, 2, 1499, 1499}, {1, 1, 500, 500}), result);
  EXPECT_TILE_EQ(result, naive(a, w, {500, 500}, {0, 0}).cast(DType::f32));
}

TEST(Convolution, CountsItsWork) {
  const std::array types = {TileType{DType::f32, {3, 10, 10}}, TileType{DType::f32, {4, 3, 3, 3}}};
  const Cost cost = KernelCall("conv").cost(types);
  EXPECT_EQ(cost.flops, 2.0 * 4 * 8 * 8 * 3 * 3 * 3);
  EXPECT_EQ(cost.bytes, 4.0 * (3 * 10 * 10 + 4 * 3 * 3 * 3 + 4 * 8 * 8));
}

TEST(Convolution, Errors) {
  const auto conv = [](const char* call, const Shape& a, const Shape& w) {
    return KernelCall(call).infer(std::array{TileType{DType::f32, a}, TileType{DType::f32, w}});
  };
  EXPECT_ERROR(TypeError, conv("conv", {2, 9}, {4, 3, 3}),
               "conv: f32[2x9] and f32[4x3x3] do not match: the weights must be");
  EXPECT_ERROR(TypeError, conv("conv", {3, 9, 9, 9}, {4, 3, 3}), "do not match");
  EXPECT_ERROR(TypeError, conv("conv", {3}, {4, 3}), "do not match");
  EXPECT_ERROR(
      TypeError, conv("conv", {3, 2}, {4, 3, 3}),
      "a window of 3 is larger than the 2 elements of dimension 1 with their padding of 0");
  EXPECT_ERROR(TypeError, conv("conv", {3, 2}, {4, 3, 0}), "a window of 0");
  EXPECT_ERROR(TypeError, conv("conv(stride=0)", {3, 9}, {4, 3, 3}),
               "conv: stride [0] is not valid for a 1-d convolution; give a number of at least 1");
  EXPECT_ERROR(TypeError, conv("conv(padding=[1, 1])", {3, 9}, {4, 3, 3}), "conv: padding [1, 1]");
  EXPECT_ERROR(TypeError, conv("conv(padding=-1)", {3, 9}, {4, 3, 3}), "at least 0");
}

}  // namespace
}  // namespace tessera
