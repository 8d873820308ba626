#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "support/expectations.h"
#include "support/special_values.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

/// A tile whose element at an index is f(index).
Tile made(DType dtype, const Shape& shape, const std::function<double(const Index&)>& f) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    Index index(shape.size(), 0);
    std::int64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    values.push_back(f(index));
  }
  return Tile::of<double>(shape, values).cast(dtype);
}

/// About half of the elements are zero, the others differ from their neighbours.
Tile sample(DType dtype, const Shape& shape) {
  std::int64_t i = 0;
  return made(dtype, shape, [&](const Index&) {
    ++i;
    return i * 7 % 5 < 2 ? 0.0 : static_cast<double>(i % 9 - 4);
  });
}

/// The same elements in each layout: row-major, as a view of a larger tile, and sparse.
std::vector<Tile> every_layout(const Tile& tile) {
  std::vector<Tile> result = {tile};
  if (tile.rank() > 0) {
    const Tile doubled = KernelCall("tile", {{"repeats", std::vector<std::int64_t>{2}}})({tile});
    Index begin(tile.rank(), 0);
    Index end = tile.shape();
    result.push_back(doubled.slice(begin, end).transpose().contiguous().transpose());
  }
  for (int dims = 1; dims <= tile.rank(); ++dims) result.push_back(tile.with_sparse_dims(dims));
  return result;
}

/// Runs a call on every layout and dtype and compares with what `expected` makes of the dense tile.
void check(const KernelCall& call, const Shape& shape,
           const std::function<Tile(const Tile&)>& expected) {
  for (DType dtype : dtypes)
    for (const Tile& tile : every_layout(sample(dtype, shape))) {
      SCOPED_TRACE(call.to_string() + " of " + to_string(tile.type()));
      const Tile result = call({tile});
      EXPECT_TILE_EQ(result, expected(tile.dense()));
      EXPECT_EQ(call.infer(std::array{tile.type()})[0], result.type());
    }
}

int sparse_dims(const KernelCall& call, const TileType& type) {
  return call.infer(std::array{type})[0].sparse_dims;
}

TEST(Rearrangement, IdentityIsItsArgument) {
  check("identity", {2, 3}, [](const Tile& a) { return a; });
  const Tile a = sample(DType::f64, {2, 3});
  EXPECT_EQ(KernelCall("identity")({a}).bytes_begin(), a.bytes_begin());
}

TEST(Rearrangement, TransposeReversesTheDimensions) {
  check("transpose", {2, 3, 4}, [](const Tile& a) {
    return made(a.dtype(), {4, 3, 2}, [&](const Index& i) {
      return a.at<double>({i[2], i[1], i[0]});
    });
  });
  check("transpose", {}, [](const Tile& a) { return a; });
  check("transpose", {0, 3}, [](const Tile& a) { return Tile::zeros(a.dtype(), {3, 0}); });
  EXPECT_EQ(sparse_dims("transpose", {DType::f64, {2, 3, 4}, 2}), 2);
}

TEST(Rearrangement, PermuteTakesNegativeAxes) {
  const auto expected = [](const Tile& a) {
    return made(a.dtype(), {4, 2, 3}, [&](const Index& i) {
      return a.at<double>({i[1], i[2], i[0]});
    });
  };
  check("permute(axes=[2, 0, 1])", {2, 3, 4}, expected);
  check("permute(axes=[-1, 0, -2])", {2, 3, 4}, expected);
  const Tile a = sample(DType::f64, {2, 3});
  EXPECT_ERROR(TypeError, KernelCall("permute(axes=[0, 0])")({a}),
               "permute: axes [0, 0] are not a permutation of the 2 dimensions of f64[2x3]");
  EXPECT_ERROR(TypeError, KernelCall("permute(axes=[0])")({a}), "not a permutation");
  EXPECT_ERROR(TypeError, KernelCall("permute(axes=[0, 2])")({a}), "permute: axis 2");
  EXPECT_ERROR(TypeError, KernelCall("permute"), "permute: parameter \"axes\" is missing");
}

TEST(Rearrangement, ReshapeKeepsTheRowMajorOrder) {
  check("reshape(shape=[3, -1])", {2, 3, 2}, [](const Tile& a) {
    return made(a.dtype(), {3, 4}, [&](const Index& i) {
      const std::int64_t at = 4 * i[0] + i[1];
      return a.at<double>({at / 6, at / 2 % 3, at % 2});
    });
  });
  check("reshape(shape=[])", {1, 1}, [](const Tile& a) {
    return made(a.dtype(), {}, [&](const Index&) { return a.at<double>({0, 0}); });
  });
  check("reshape(shape=[0, 5])", {2, 0}, [](const Tile& a) {
    return Tile::zeros(a.dtype(), {0, 5});
  });
  EXPECT_EQ(sparse_dims("reshape(shape=[6])", {DType::f64, {2, 3}, 2}), 1);
  EXPECT_EQ(sparse_dims("reshape(shape=[3, 1, 2])", {DType::f64, {2, 3}, 2}), 2);
  EXPECT_EQ(sparse_dims("reshape(shape=[])", {DType::f64, {1}, 1}), 0);
  const Tile a = sample(DType::f64, {2, 3});
  EXPECT_ERROR(TypeError, KernelCall("reshape(shape=[4, 2])")({a}),
               "reshape: f64[2x3] with 6 elements cannot be reshaped into [4, 2]");
  EXPECT_ERROR(TypeError, KernelCall("reshape(shape=[-1, 4])")({a}), "cannot be reshaped");
  EXPECT_ERROR(TypeError, KernelCall("reshape(shape=[-1, -1])")({a}), "one may be -1");
  EXPECT_ERROR(TypeError, KernelCall("reshape(shape=[-2, -3])")({a}), "cannot be reshaped");
  EXPECT_ERROR(TypeError, KernelCall("reshape(shape=[0, -1])")({Tile::zeros(DType::f64, {0, 3})}),
               "cannot be reshaped");
}

TEST(Rearrangement, SliceTakesBoundsAsPythonDoes) {
  check("slice(begin=[1, -3], end=[4, -1])", {5, 4}, [](const Tile& a) {
    return made(a.dtype(), {3, 2}, [&](const Index& i) {
      return a.at<double>({i[0] + 1, i[1] + 1});
    });
  });
  check("slice(begin=[0, 1], end=[5, 4], step=[2, 3])", {5, 4}, [](const Tile& a) {
    return made(a.dtype(), {3, 1}, [&](const Index& i) { return a.at<double>({2 * i[0], 1}); });
  });
  check("slice(begin=[-1, 3], end=[-6, 0], step=[-1, -2])", {5, 4}, [](const Tile& a) {
    return made(a.dtype(), {5, 2}, [&](const Index& i) {
      return a.at<double>({4 - i[0], 3 - 2 * i[1]});
    });
  });
  check("slice(begin=[3, 2], end=[1, 2])", {5, 4}, [](const Tile& a) {
    return Tile::zeros(a.dtype(), {0, 0});
  });
  check("slice(begin=[], end=[])", {}, [](const Tile& a) { return a; });
  check("slice(begin=[1], end=[5], step=9223372036854775807)", {5}, [](const Tile& a) {
    return made(a.dtype(), {1}, [&](const Index&) { return a.at<double>({1}); });
  });
}

TEST(Rearrangement, SliceOutOfRangeIsAnError) {
  const Tile a = sample(DType::f64, {2, 3});
  EXPECT_ERROR(TypeError, KernelCall("slice(begin=[0, 0], end=[2, 4])")({a}),
               "slice: end 4 is out of range for dimension 1 of f64[2x3]; it must be -3 to 3");
  EXPECT_ERROR(TypeError, KernelCall("slice(begin=[-3, 0], end=[2, 3])")({a}),
               "slice: begin -3 is out of range for dimension 0 of f64[2x3]");
  EXPECT_ERROR(TypeError, KernelCall("slice(begin=[2, 0], end=[0, 3], step=-1)")({a}),
               "slice: begin 2 is out of range");
  EXPECT_ERROR(TypeError, KernelCall("slice(begin=[0], end=[2])")({a}),
               "slice: begin [0], end [2] and step [1, 1] do not match f64[2x3]");
  EXPECT_ERROR(TypeError, KernelCall("slice(begin=[0, 0], end=[2, 3], step=0)")({a}),
               "slice: the step of dimension 0 of f64[2x3] is 0");
}

TEST(Rearrangement, ViewsOfDenseTilesCopyNothing) {
  const Tile a = sample(DType::f32, {4, 6});
  for (const char* call : {"transpose", "permute(axes=[1, 0])", "reshape(shape=[8, 3])",
                           "slice(begin=[0, 0], end=[2, 6])"}) {
    EXPECT_EQ(KernelCall(call)({a}).bytes_begin(), a.bytes_begin()) << call;
    EXPECT_EQ(KernelCall(call).cost(std::array{a.type()}).bytes, 0) << call;
  }
}

TEST(Rearrangement, DiagOfAVectorIsAMatrix) {
  check("diag", {5}, [](const Tile& a) {
    return made(a.dtype(), {5, 5},
                [&](const Index& i) { return i[0] == i[1] ? a.at<double>({i[0]}) : 0; });
  });
  check("diag", {0}, [](const Tile& a) { return Tile::zeros(a.dtype(), {0, 0}); });
  EXPECT_EQ(to_string(KernelCall("diag").infer(std::array{TileType{DType::f64, {4}, 1}})[0]),
            "f64[4](4)");
  const Tile part = sample(DType::i64, {3, 9}).with_sparse_dims(1).slice({1, 0}, {2, 9});
  EXPECT_TILE_EQ(KernelCall("diag")({part.reshape({9})}),
                 KernelCall("diag")({part.dense().reshape({9})}));
}

TEST(Rearrangement, DiagOfAMatrixIsItsDiagonal) {
  for (const Shape& shape : {Shape{3, 5}, Shape{5, 3}})
    check("diagonal", shape, [](const Tile& a) {
      return made(a.dtype(), {3}, [&](const Index& i) { return a.at<double>({i[0], i[0]}); });
    });
  check("diag", {2, 3, 4}, [](const Tile& a) {
    return made(a.dtype(), {2, 3}, [&](const Index& i) {
      return a.at<double>({i[0], i[1], i[1]});
    });
  });
  EXPECT_EQ(sparse_dims("diag", {DType::f64, {2, 3, 4}, 3}), 2);
  EXPECT_EQ(sparse_dims("diag", {DType::f64, {2, 3, 4}, 1}), 1);
  EXPECT_ERROR(TypeError, KernelCall("diag")({Tile::scalar(1.0)}),
               "diag: f64[] is not supported: a scalar has no diagonal");
}

TEST(Rearrangement, TileRepeatsAsNumPyDoes) {
  check("tile(repeats=[2, 3])", {2, 3}, [](const Tile& a) {
    return made(a.dtype(), {4, 9}, [&](const Index& i) {
      return a.at<double>({i[0] % 2, i[1] % 3});
    });
  });
  check("tile(repeats=2)", {2, 3}, [](const Tile& a) {
    return made(a.dtype(), {2, 6}, [&](const Index& i) { return a.at<double>({i[0], i[1] % 3}); });
  });
  check("tile(repeats=[2, 1, 2])", {3}, [](const Tile& a) {
    return made(a.dtype(), {2, 1, 6}, [&](const Index& i) { return a.at<double>({i[2] % 3}); });
  });
  check("tile(repeats=[3])", {}, [](const Tile& a) {
    return made(a.dtype(), {3}, [&](const Index&) { return a.at<double>({}); });
  });
  check("tile(repeats=[0, 2])", {2, 3}, [](const Tile& a) {
    return Tile::zeros(a.dtype(), {0, 6});
  });
  check("tile(repeats=[])", {2}, [](const Tile& a) { return a; });
  const Tile a = sample(DType::f64, {2, 3});
  EXPECT_ERROR(TypeError, KernelCall("tile(repeats=[-1])")({a}),
               "tile: repeats [-1] of f64[2x3] must not be negative");
  EXPECT_ERROR(TypeError, KernelCall("tile(repeats=[9223372036854775807])")({a}),
               "tile: the result for f64[2x3] would be too large for a tile");
  EXPECT_ERROR(TypeError, KernelCall("tile(repeats=[1,1,1,1,1,1,1,1,1])")({a}), "tile: 9 repeats");
}

TEST(Rearrangement, ConcatPutsSideBySide) {
  const Tile a = sample(DType::i64, {2, 3});
  const Tile b = sample(DType::i64, {4, 3});
  const auto expected = made(DType::i64, {8, 3}, [&](const Index& i) {
    if (i[0] < 2) return a.at<double>(i);
    return i[0] < 6 ? b.at<double>({i[0] - 2, i[1]}) : a.at<double>({i[0] - 6, i[1]});
  });
  for (const Tile& left : every_layout(a))
    for (const Tile& right : every_layout(b)) {
      const std::array types = {left.type(), right.type(), left.type()};
      const Tile result = KernelCall("concat")({left, right, left});
      EXPECT_TILE_EQ(result, expected);
      EXPECT_EQ(KernelCall("concat").infer(types)[0], result.type());
      EXPECT_EQ(result.sparse_dims(), right.is_sparse() ? left.sparse_dims() : 0);
      EXPECT_TILE_EQ(
          KernelCall("concat(axis=-1)")({left.transpose(), right.transpose(), left.transpose()}),
          expected.transpose());
    }
}

TEST(Rearrangement, ConcatPromotesAndTakesEmptyParts) {
  const Tile a = Tile::of<float>({2}, {0.5F, 1});
  const Tile b = Tile::of<std::int64_t>({1}, {3});
  EXPECT_TILE_EQ(KernelCall("concat")({a, Tile::zeros(DType::f32, {0}), b}),
                 Tile::of<double>({3}, {0.5, 1, 3}));
  EXPECT_TILE_EQ(KernelCall("concat")({a}), a);
  EXPECT_TILE_EQ(KernelCall("concat(axis=1)")(
                     {Tile::zeros(DType::f32, {0, 2}), Tile::zeros(DType::boolean, {0, 3})}),
                 Tile::zeros(DType::f32, {0, 5}));
  EXPECT_ERROR(
      TypeError,
      KernelCall("concat(axis=1)")({sample(DType::f64, {2, 3}), sample(DType::f64, {4, 5})}),
      "concat: f64[2x3] and f64[4x5] do not match: all dimensions except dimension 1 must be "
      "equal");
  EXPECT_ERROR(TypeError, KernelCall("concat")({a, sample(DType::f64, {2, 3})}),
               "concat: f32[2] and f64[2x3] do not match");
  EXPECT_ERROR(TypeError, KernelCall("concat")({Tile::scalar(1.0)}), "concat: axis 0");
  EXPECT_ERROR(TypeError, KernelCall("concat")(std::vector<Tile>{}),
               "concat takes 1 or more arguments, not 0");
}

TEST(Rearrangement, PadSurroundsWithAValue) {
  const auto padded = [](double value) {
    return [value](const Tile& a) {
      return made(a.dtype(), {3, 7}, [&](const Index& i) {
        const bool inside = i[0] >= 1 && i[1] >= 1 && i[1] < 4;
        return inside ? a.at<double>({i[0] - 1, i[1] - 1}) : value;
      });
    };
  };
  check("pad(before=[1, 1], after=[0, 3])", {2, 3}, padded(0));
  check("pad(before=[1, 1], after=[0, 3], value=1)", {2, 3}, padded(1));
  check("pad(before=[], after=[])", {}, [](const Tile& a) { return a; });
  check("pad(before=[1], after=[1])", {0},
        [](const Tile& a) { return Tile::zeros(a.dtype(), {2}); });
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(KernelCall("pad", {{"before", 1}, {"after", 0}, {"value", large}})(
                {Tile::of<std::int64_t>({1}, {5})})
                .at<std::int64_t>({0}),
            large);
}

TEST(Rearrangement, PadStaysSparseAroundZeroOnly) {
  const TileType type{DType::f64, {2, 3}, 2};
  EXPECT_EQ(sparse_dims("pad(before=[1, 1], after=[0, 0])", type), 2);
  EXPECT_EQ(sparse_dims("pad(before=[1, 1], after=[0, 0], value=0.0)", type), 2);
  EXPECT_EQ(sparse_dims("pad(before=[1, 1], after=[0, 0], value=2)", type), 0);
  const Tile a = sample(DType::i64, {2, 3});
  EXPECT_ERROR(TypeError, KernelCall("pad(before=[1], after=[0, 0])")({a}),
               "pad: before [1] and after [0, 0] are not valid for i64[2x3]");
  EXPECT_ERROR(TypeError, KernelCall("pad(before=[1, -1], after=[0, 0])")({a}), "at least 0");
  EXPECT_ERROR(TypeError, KernelCall("pad(before=[1, 1], after=[0, 0], value=0.5)")({a}),
               "pad: i64[2x3] cannot hold the value 0.5");
}

TEST(Rearrangement, CastConverts) {
  const Tile a = Tile::of<double>({4}, {0, 0.5, -2.75, 3});
  EXPECT_TILE_EQ(KernelCall("cast(dtype='i64')")({a}), Tile::of<std::int64_t>({4}, {0, 0, -2, 3}));
  EXPECT_TILE_EQ(KernelCall("cast(dtype='bool')")({a}),
                 Tile::of<bool>({4}, {false, true, true, true}));
  for (DType from : dtypes)
    for (const Tile& tile : every_layout(sample(from, {3, 4})))
      for (DType to : dtypes) {
        const KernelCall call("cast", {{"dtype", std::string(to_string(to))}});
        const Tile result = call({tile});
        EXPECT_EQ(result.type(), (TileType{to, {3, 4}, tile.sparse_dims()}));
        EXPECT_TILE_EQ(result, tile.dense().cast(to));
      }
  EXPECT_ERROR(TypeError, KernelCall("cast(dtype='f16')")({a}), "'f16' is not a dtype");
}

TEST(Rearrangement, CastRefusesWhatAnIntegerCannotHold) {
  const KernelCall whole("cast(dtype='i64')"), narrow("cast(dtype='i64', bits=32)");
  const Tile ends = Tile::of<double>({2}, {-0x1p63, 0x1.fffffffffffffp62});
  EXPECT_TILE_EQ(whole({ends}), Tile::of<std::int64_t>({2}, {INT64_MIN, 0x7ffffffffffffc00}));
  EXPECT_TILE_EQ(narrow({Tile::of<double>({2}, {-2147483648.9, 2147483647.9})}),
                 Tile::of<std::int64_t>({2}, {INT32_MIN, INT32_MAX}));
  EXPECT_TILE_EQ(narrow({Tile::of<float>({1}, {-0x1p31F})}),
                 Tile::of<std::int64_t>({1}, {INT32_MIN}));
  const auto refused = [](const KernelCall& cast, const Tile& tile, const char* message) {
    for (const Tile& laid_out : every_layout(tile))
      EXPECT_ERROR(ValueError, cast({laid_out}), message);
  };
  refused(whole, Tile::of<double>({1, 2}, {1, 0x1p63}),
          "cast: 9.223372036854776e+18 is out of range");
  refused(whole, Tile::of<float>({1, 2}, {0, -INFINITY}),
          "cast: -inf is out of range for a 64-bit");
  refused(whole, Tile::of<double>({1, 2}, {0, -NAN}), "cast: nan is out of range for a 64-bit");
  refused(narrow, Tile::of<double>({1, 2}, {-0x1p31 - 1, 0}),
          "-2147483649 is out of range for a 32-bit");
  refused(narrow, Tile::of<std::int64_t>({1, 2}, {0, std::int64_t{1} << 31}),
          "cast: 2147483648 is out of range for a 32-bit integer: -2147483648 to 2147483647");
  EXPECT_ERROR(TypeError, KernelCall("cast(dtype='i64', bits=16)")({ends}),
               "must be 32 or 64, not 16");
  EXPECT_TILE_EQ(KernelCall("cast(dtype='f32')")({Tile::of<double>({1}, {1e300})}),
                 Tile::of<float>({1}, {INFINITY}));
}

/// Entries that hold an explicit zero are moved like any other.
TEST(Rearrangement, StoredZerosStayStored) {
  const auto storage =
      std::make_shared<std::vector<std::int64_t>>(std::vector<std::int64_t>{0, 2, 0, 2, 0, 7});
  const Tile a = Tile::wrap_sparse({DType::i64, {3}, 1}, storage->data(), storage->data() + 2,
                                   storage->data() + 4, storage);
  EXPECT_EQ(KernelCall("tile(repeats=2)")({a}).stored(), 4);
  EXPECT_EQ(KernelCall("concat")({a, a, a}).stored(), 6);
  EXPECT_EQ(KernelCall("pad(before=[1], after=[1])")({a}).stored(), 2);
  EXPECT_EQ(KernelCall("diag")({a}).stored(), 2);
  EXPECT_TRUE(KernelCall("diag")({a}).is_stored({0, 0}));
}

}  // namespace
}  // namespace tessera
