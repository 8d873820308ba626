#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "kernel/arguments.h"
#include "support/expectations.h"
#include "support/special_values.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

using Axes = std::vector<std::int64_t>;

Tile reduce(const char* kernel, const Tile& tile, const Axes& axes, bool keepdims = false) {
  return KernelCall(kernel, {{"axes", axes}, {"keepdims", keepdims}})({tile});
}

/// The elements of each cell of the result, in row-major order of the reduced dimensions.
std::map<std::vector<std::int64_t>, std::vector<double>> cells_of(const Tile& tile,
                                                                  const Axes& axes) {
  std::map<std::vector<std::int64_t>, std::vector<double>> cells;
  for (std::int64_t i = 0; i < tile.elements(); ++i) {
    Index index(tile.rank(), 0);
    std::int64_t rest = i;
    for (int d = tile.rank() - 1; d >= 0; rest /= tile.shape()[d], --d)
      index[d] = rest % tile.shape()[d];
    std::vector<std::int64_t> cell;
    for (int d = 0; d < tile.rank(); ++d)
      if (std::count(axes.begin(), axes.end(), d) == 0) cell.push_back(index[d]);
    cells[cell].push_back(tile.at<double>(index));
  }
  return cells;
}

using Values = std::vector<double>;

const std::vector<std::pair<const char*, std::function<double(const Values&)>>>& reductions() {
  static const std::vector<std::pair<const char*, std::function<double(const Values&)>>> all = {
      {"sum", [](const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0); }},
      {"mean",
       [](const Values& v) {
         return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
       }},
      {"product",
       [](const Values& v) { return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies()); }},
      {"max", [](const Values& v) { return *std::max_element(v.begin(), v.end()); }},
      {"min", [](const Values& v) { return *std::min_element(v.begin(), v.end()); }},
      {"argmax",
       [](const Values& v) {
         return static_cast<double>(std::max_element(v.begin(), v.end()) - v.begin());
       }},
      {"argmin",
       [](const Values& v) {
         return static_cast<double>(std::min_element(v.begin(), v.end()) - v.begin());
       }},
      {"count_nonzero",
       [](const Values& v) {
         return static_cast<double>(v.size()) -
                static_cast<double>(std::count(v.begin(), v.end(), 0.0));
       }},
      {"all", [](const Values& v) { return std::count(v.begin(), v.end(), 0.0) == 0; }},
      {"any",
       [](const Values& v) {
         return static_cast<std::size_t>(std::count(v.begin(), v.end(), 0.0)) < v.size();
       }},
  };
  return all;
}

void expect_reduced(const Tile& tile, const Axes& axes) {
  const auto cells = cells_of(tile, axes);
  for (const auto& [name, f] : reductions()) {
    SCOPED_TRACE(std::string(name) + " of " + to_string(tile.type()));
    const Tile result = reduce(name, tile, axes);
    for (const auto& [cell, values] : cells) {
      const double expected = f(values);
      const double tolerance = std::string(name) == "mean" ? std::abs(expected) * 1e-7 : 0;
      EXPECT_NEAR(result.at<double>(Index(cell.begin(), cell.end())), expected, tolerance);
    }
  }
}

Tile small_integers(DType dtype, const Shape& shape, std::uint64_t seed) {
  return random_integers(dtype, shape, seed, dtype == DType::boolean ? 0 : -2, 3);
}

/// Axes in increasing order, by the bits of a number.
Axes axes_of_bits(int bits, int rank) {
  Axes axes;
  for (int d = 0; d < rank; ++d)
    if ((bits >> d & 1) != 0) axes.push_back(d);
  return axes;
}

TEST(Reduction, AgreesWithPlainLoopsForAllDtypesLayoutsAndAxes) {
  for (DType dtype : dtypes) {
    const Tile tile = small_integers(dtype, {3, 4, 5}, 1);
    for (int bits = 1; bits < 8; ++bits)
      for (int sparse_dims : {0, 1, 2, 3})
        expect_reduced(tile.with_sparse_dims(sparse_dims), axes_of_bits(bits, 3));
  }
}

TEST(Reduction, ReadsViewsInPlace) {
  const Tile tile = small_integers(DType::f64, {20, 6, 40}, 2);
  const Tile reversed = tile.slice({19, 0, 39}, {-1, 6, -1}, {-2, 1, -1});
  for (const Tile& view : {tile.transpose(), reversed, reversed.permute({1, 0, 2})})
    for (int bits = 1; bits < 8; ++bits) expect_reduced(view, axes_of_bits(bits, 3));
  const Tile spread = small_integers(DType::i64, {1, 30}, 3).broadcast({20, 30});
  for (int bits = 1; bits < 4; ++bits) expect_reduced(spread, axes_of_bits(bits, 2));
}

TEST(Reduction, RunsLongerThanABlockAndStripsOfCells) {
  for (DType dtype : dtypes) {
    // Of ones and minus ones even the product of a long run is exact.
    const Tile bits_of_sign = random_integers(DType::i64, {3, 1700}, 3, 0, 2);
    const Tile tile =
        KernelCall("sub_scalar(value=1)")({KernelCall("mul_scalar(value=2)")({bits_of_sign})});
    for (int bits = 1; bits < 4; ++bits) expect_reduced(tile.cast(dtype), axes_of_bits(bits, 2));
  }
}

TEST(Reduction, SlicedSparseTilesWork) {
  const Tile whole = small_integers(DType::f64, {6, 3, 7}, 4).with_sparse_dims(2);
  const Tile slice = whole.slice({2, 0, 0}, {5, 3, 7});
  for (int bits = 1; bits < 8; ++bits) expect_reduced(slice, axes_of_bits(bits, 3));
}

TEST(Reduction, EmptyListOfAxesMeansAll) {
  const Tile tile = Tile::of<std::int64_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(elements<std::int64_t>(KernelCall("sum")({tile})), (std::vector<std::int64_t>{10}));
  EXPECT_EQ(KernelCall("sum")({tile}).rank(), 0);
  EXPECT_EQ(elements<double>(KernelCall("mean")({Tile::scalar(3.0)})), (std::vector<double>{3}));
}

TEST(Reduction, KeepdimsAndNegativeAxes) {
  const Tile tile = small_integers(DType::f64, {3, 4, 5}, 1);
  EXPECT_EQ(reduce("sum", tile, {-2}, true).shape(), (Shape{3, 1, 5}));
  EXPECT_EQ(reduce("max", tile, {-1, 0}, true).shape(), (Shape{1, 4, 1}));
  EXPECT_EQ(reduce("max", tile, {-1, 0}).shape(), (Shape{4}));
  EXPECT_ERROR(TypeError, reduce("sum", tile, {3}),
               "sum: axis 3 is out of range for shape [3x4x5]; axes run from -3 to 2");
  EXPECT_ERROR(
      TypeError, reduce("sum", tile, {1, -2}),
      "sum: axes [1, -2] have dimension 1 of shape [3x4x5] twice; list each dimension once");
  EXPECT_ERROR(TypeError, reduce("sum", Tile::scalar(1.0), {0}), "a scalar has no axes");
}

TEST(Reduction, Dtypes) {
  const auto dtype = [](const char* kernel, DType tile) {
    const TileType types[] = {{tile, {2}}};
    return KernelCall(kernel).infer(types)[0].dtype;
  };
  for (DType tile : dtypes) {
    EXPECT_EQ(dtype("max", tile), tile);
    EXPECT_EQ(dtype("argmin", tile), DType::i64);
    EXPECT_EQ(dtype("count_nonzero", tile), DType::i64);
    EXPECT_EQ(dtype("any", tile), DType::boolean);
    EXPECT_EQ(dtype("sum", tile), tile == DType::boolean ? DType::i64 : tile);
    EXPECT_EQ(dtype("product", tile), tile == DType::boolean ? DType::i64 : tile);
    EXPECT_EQ(dtype("mean", tile), tile == DType::f32 ? DType::f32 : DType::f64);
  }
}

TEST(Reduction, OfNothing) {
  const Tile tile = Tile::zeros(DType::f64, {3, 0});
  EXPECT_EQ(elements<double>(reduce("sum", tile, {1})), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(elements<double>(reduce("product", tile, {1})), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(elements<bool>(reduce("all", tile, {1})), (std::vector<bool>{true, true, true}));
  EXPECT_EQ(elements<bool>(reduce("any", tile.with_sparse_dims(1), {1})),
            (std::vector<bool>{false, false, false}));
  EXPECT_TRUE(std::isnan(elements<double>(KernelCall("mean")({tile}))[0]));
  for (const char* name : {"max", "min", "argmax", "argmin"}) {
    EXPECT_ERROR(ValueError, reduce(name, tile, {1}),
                 std::string(name) + ": cannot reduce axes [1] of f64[3x0]: there are no elements");
    EXPECT_EQ(reduce(name, tile, {0}).shape(), Shape{0});
  }
}

TEST(Reduction, NanWins) {
  const Tile tile = Tile::of<double>({2, 3}, {1, nan, nan, nan, 5, 7});
  for (const Tile& view : {tile, tile.transpose().contiguous().transpose()})
    for (const char* name : {"max", "min"})
      for (double value : elements<double>(reduce(name, view, {1}))) EXPECT_TRUE(std::isnan(value));
  for (const char* name : {"argmax", "argmin"}) {
    EXPECT_EQ(elements<std::int64_t>(reduce(name, tile, {1})), (std::vector<std::int64_t>{1, 0}));
    EXPECT_EQ(elements<std::int64_t>(reduce(name, tile, {0})),
              (std::vector<std::int64_t>{1, 0, 0}));
    EXPECT_EQ(elements<std::int64_t>(reduce(name, tile.with_sparse_dims(2), {0, 1})),
              (std::vector<std::int64_t>{1}));
  }
  EXPECT_EQ(elements<std::int64_t>(KernelCall("count_nonzero")({tile})),
            (std::vector<std::int64_t>{6}));
}

TEST(Reduction, WhatIsNotStoredIsAZero) {
  const Tile tile = Tile::of<double>({2, 4}, {-1, -2, 0, 0, -3, -4, -5, -6}).with_sparse_dims(1);
  EXPECT_EQ(elements<double>(reduce("max", tile, {1})), (std::vector<double>{0, -3}));
  EXPECT_EQ(elements<std::int64_t>(reduce("argmax", tile, {1})), (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(elements<double>(reduce("product", tile, {1})), (std::vector<double>{0, 360}));
  EXPECT_EQ(elements<bool>(reduce("all", tile, {1})), (std::vector<bool>{false, true}));
}

TEST(Reduction, IntegersWrapAround) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Tile tile = Tile::of<std::int64_t>({2}, {most, 2});
  EXPECT_EQ(elements<std::int64_t>(KernelCall("sum")({tile})), (std::vector<std::int64_t>{-most}));
  EXPECT_EQ(elements<std::int64_t>(KernelCall("product")({tile})), (std::vector<std::int64_t>{-2}));
}

TEST(Reduction, LongSumsKeepTheirDigits) {
  // 0.1 is no binary fraction: a plain running sum of a million is off in the twelfth digit.
  const std::int64_t count = 1'000'000;
  const Tile f64 = Tile::full(DType::f64, {count, 1}, 0.1);
  EXPECT_NEAR(elements<double>(KernelCall("sum")({f64}))[0], 100'000, 1e-9);
  EXPECT_NEAR(elements<double>(reduce("sum", f64.broadcast({count, 20}), {0}))[7], 100'000, 1e-10);
  const Tile f32 = Tile::full(DType::f32, {count}, 0.1);
  const double stored = static_cast<double>(0.1F) * static_cast<double>(count);
  EXPECT_NEAR(elements<float>(KernelCall("sum")({f32}))[0], stored, 0.005);
}

TEST(Reduction, InfinitiesSurviveTheCompensation) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tile tile = Tile::of<double>({3}, {1, infinity, 2});
  EXPECT_EQ(elements<double>(KernelCall("sum")({tile}))[0], infinity);
  EXPECT_EQ(elements<double>(KernelCall("sum")({tile.with_sparse_dims(1)}))[0], infinity);
  const Tile both = Tile::of<double>({2}, {infinity, -infinity});
  EXPECT_TRUE(std::isnan(elements<double>(KernelCall("sum")({both}))[0]));
}

}  // namespace
}  // namespace tessera
