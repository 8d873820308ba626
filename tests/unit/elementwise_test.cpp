#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernel/elementwise_loops.h"
#include "support/elements.h"
#include "support/expectations.h"
#include "support/special_values.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

/// The element of a tile that broadcasting puts at an index.
double at_broadcast(const Tile& tile, const Index& index) {
  return tile.at<double>(index_of(broadcast_position(index, tile.shape()), tile.shape()));
}

void expect_applied(const Tile& result, const Tile& a, const Tile& b,
                    const std::function<double(double, double)>& f) {
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    const Index index = index_of(i, result.shape());
    const double expected = f(at_broadcast(a, index), at_broadcast(b, index));
    const auto actual = result.at<double>(index);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(actual)) << to_string(index);
    else
      EXPECT_EQ(actual, expected) << to_string(index);
  }
}

Tile small_integers(DType dtype, const Shape& shape, std::uint64_t seed) {
  return random_integers(dtype, shape, seed, dtype == DType::boolean ? 0 : -3, 4);
}

/// An f64[3](4) tile with an explicit NaN, infinity and zero.
Tile peculiar_sparse() {
  static const std::vector<std::int64_t> offsets = {0, 2, 2, 5};
  static const std::vector<std::int64_t> coordinates = {0, 2, 0, 1, 3};
  static const std::vector<double> values = {2, nan, infinity, 0, -1};
  return Tile::wrap_sparse({DType::f64, {3, 4}, 1}, offsets.data(), coordinates.data(),
                           values.data(), nullptr);
}

const std::vector<std::pair<const char*, std::function<double(double, double)>>>& functions() {
  static const std::vector<std::pair<const char*, std::function<double(double, double)>>> all = {
      {"add", [](double a, double b) { return a + b; }},
      {"sub", [](double a, double b) { return a - b; }},
      {"mul", [](double a, double b) { return a * b; }},
      {"div", [](double a, double b) { return a / b; }},
      {"maximum", [](double a, double b) { return std::max(a, b); }},
      {"minimum", [](double a, double b) { return std::min(a, b); }},
      {"equal", [](double a, double b) { return a == b; }},
      {"not_equal", [](double a, double b) { return a != b; }},
      {"less", [](double a, double b) { return a < b; }},
      {"less_equal", [](double a, double b) { return a <= b; }},
      {"greater", [](double a, double b) { return a > b; }},
      {"greater_equal", [](double a, double b) { return a >= b; }},
      {"logical_and", [](double a, double b) { return a != 0 && b != 0; }},
      {"logical_or", [](double a, double b) { return a != 0 || b != 0; }},
      {"cross_entropy_deriv", [](double a, double b) { return a - b; }},
  };
  return all;
}

bool is_arithmetic(const std::string& name) { return name == "add" || name == "sub"; }

TEST(ElementwiseBinary, AgreesWithPlainLoopsForAllDtypes) {
  for (const auto& [name, f] : functions())
    for (DType left : dtypes)
      for (DType right : dtypes) {
        const bool boolean = left == DType::boolean && right == DType::boolean;
        if (boolean && is_arithmetic(name)) continue;
        SCOPED_TRACE(std::string(name) + " of " + std::string(to_string(left)) + " and " +
                     std::string(to_string(right)));
        const Tile a = small_integers(left, {3, 5}, 1);
        const Tile b = small_integers(right, {3, 5}, 2);
        // What is exact in f64 is rounded once in f32.
        const bool narrow = promote(left, right) == DType::f32;
        const auto rounded = [&, &g = f](double x, double y) {
          return narrow ? static_cast<double>(static_cast<float>(g(x, y))) : g(x, y);
        };
        expect_applied(KernelCall(name)({a, b}), a, b, rounded);
      }
}

TEST(ElementwiseBinary, BooleansAddAsOrAndMultiplyAsAnd) {
  const Tile a = Tile::of<bool>({4}, {false, false, true, true});
  const Tile b = Tile::of<bool>({4}, {false, true, false, true});
  EXPECT_EQ(elements<bool>(KernelCall("add")({a, b})),
            (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(elements<bool>(KernelCall("mul")({a, b})),
            (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(elements<std::int64_t>(KernelCall("power")({a, b})),
            (std::vector<std::int64_t>{1, 0, 1, 1}));
  EXPECT_ERROR(TypeError, KernelCall("sub")({a, b}),
               "sub: bool[4] and bool[4] are not supported: it is not defined for bool; cast one "
               "of them to i64");
}

TEST(ElementwiseBinary, PromotesAsNumPyDoes) {
  const auto dtype = [](const char* kernel, DType a, DType b) {
    const TileType types[] = {{a, {2}}, {b, {2}}};
    return KernelCall(kernel).infer(types)[0].dtype;
  };
  EXPECT_EQ(dtype("add", DType::f32, DType::i64), DType::f64);
  EXPECT_EQ(dtype("add", DType::f32, DType::boolean), DType::f32);
  EXPECT_EQ(dtype("add", DType::boolean, DType::i64), DType::i64);
  EXPECT_EQ(dtype("div", DType::f32, DType::f32), DType::f32);
  EXPECT_EQ(dtype("div", DType::i64, DType::i64), DType::f64);
  EXPECT_EQ(dtype("div", DType::boolean, DType::boolean), DType::f64);
  EXPECT_EQ(dtype("power", DType::boolean, DType::boolean), DType::i64);
  EXPECT_EQ(dtype("less", DType::f32, DType::i64), DType::boolean);
  EXPECT_EQ(dtype("logical_and", DType::f32, DType::i64), DType::boolean);
  EXPECT_EQ(dtype("cross_entropy_deriv", DType::f32, DType::boolean), DType::f32);
  EXPECT_EQ(dtype("cross_entropy_deriv", DType::i64, DType::i64), DType::f64);
}

TEST(ElementwiseBinary, IntegersWrapAround) {
  const Tile a = Tile::of<std::int64_t>({3}, {least, least, 3});
  const Tile b = Tile::of<std::int64_t>({3}, {1, -1, 64});
  EXPECT_EQ(elements<std::int64_t>(KernelCall("sub")({a, b})),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), least + 1, -61}));
  EXPECT_EQ(elements<std::int64_t>(KernelCall("mul")({a, b})),
            (std::vector<std::int64_t>{least, least, 192}));
  // 3^64 modulo 2^64.
  const Tile powers = KernelCall("power")({a, Tile::of<std::int64_t>({3}, {1, 2, 64})});
  EXPECT_EQ(elements<std::int64_t>(powers),
            (std::vector<std::int64_t>{least, 0, 8733086111712066817}));
}

TEST(ElementwiseBinary, IntegersRefuseNegativePowers) {
  const Tile bases = Tile::of<std::int64_t>({2}, {1, 2});
  EXPECT_ERROR(ValueError, KernelCall("power")({bases, Tile::of<std::int64_t>({2}, {1, -2})}),
               "power: an integer to the negative power -2 is not an integer; cast to f64 first");
  // Nothing is raised to it here.
  const Tile nothing = Tile::zeros(DType::i64, {0, 1});
  const Tile empty = KernelCall("power")({nothing, Tile::of<std::int64_t>({1}, {-1})});
  EXPECT_EQ(empty.elements(), 0);
  EXPECT_EQ(elements<double>(KernelCall("power")({bases, Tile::scalar(-1.0)})),
            (std::vector<double>{1, 0.5}));
}

TEST(ElementwiseBinary, MaximumAndMinimumPassNanOn) {
  const Tile a = Tile::of<double>({4}, {nan, 1, -infinity, 2});
  const Tile b = Tile::of<double>({4}, {1, nan, infinity, 2});
  const std::vector<double> highest = elements<double>(KernelCall("maximum")({a, b}));
  EXPECT_TRUE(std::isnan(highest[0]) && std::isnan(highest[1]));
  EXPECT_EQ(highest[2], infinity);
  const std::vector<double> lowest = elements<double>(KernelCall("minimum")({a, b}));
  EXPECT_TRUE(std::isnan(lowest[0]) && std::isnan(lowest[1]));
  EXPECT_EQ(lowest[2], -infinity);
}

TEST(ElementwiseBinary, Broadcasts) {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{}, {}},           {{}, {3}},
      {{3, 4}, {4}},      {{3, 1}, {1, 4}},
      {{4}, {2, 3, 1}},   {{100, 3}, {3}},  // the long dimension goes inside
      {{3, 100}, {3, 1}}, {{2, 1, 3, 1, 2, 1, 2, 1}, {1, 2, 1, 3, 2, 1, 1, 2}},
      {{0, 3}, {3}},      {{3, 1}, {3, 0}},
  };
  for (const auto& [left, right] : shapes) {
    SCOPED_TRACE(to_string(left) + to_string(right));
    const Tile a = small_integers(DType::f64, left, 1);
    const Tile b = small_integers(DType::f64, right, 2);
    const Tile result = KernelCall("sub")({a, b});
    EXPECT_EQ(result.shape(), broadcast_shapes(left, right));
    expect_applied(result, a, b, [](double x, double y) { return x - y; });
  }
}

TEST(ElementwiseBinary, ReadsViewsInPlace) {
  const Tile whole = small_integers(DType::f64, {200, 150}, 1);
  const Tile transposed = whole.transpose();
  const Tile reversed = whole.slice({199, 149}, {-1, -1}, {-1, -1}).transpose();
  const Tile stepped = small_integers(DType::f64, {300, 400}, 2).slice({0, 0}, {300, 400}, {2, 2});
  const Tile result = KernelCall("sub")({transposed, reversed});
  expect_applied(result, transposed, reversed, [](double x, double y) { return x - y; });
  const Tile mixed = KernelCall("sub")({transposed, stepped});
  expect_applied(mixed, transposed, stepped, [](double x, double y) { return x - y; });
}

TEST(ElementwiseBinary, StreamsLargeResults) {
  // Over the size from which results bypass the caches, with rows that no cache line divides.
  const Shape shape{1003, 2101};
  const Tile a = small_integers(DType::f64, shape, 1);
  const Tile b = small_integers(DType::f64, {2101}, 2);
  const Tile sum = KernelCall("add")({a, b});
  const Tile transposed = KernelCall("add")({a.transpose(), a.transpose()});
  const auto* x = a.data<double>();
  for (std::int64_t i = 0; i < sum.elements(); ++i) {
    ASSERT_EQ(sum.data<double>()[i], x[i] + b.data<double>()[i % 2101]) << i;
    ASSERT_EQ(transposed.data<double>()[i], 2 * x[i % 1003 * 2101 + i / 1003]) << i;
  }
}

TEST(ElementwiseBinary, ShapesThatDoNotFitAreNamed) {
  const Tile a = Tile::zeros(DType::f64, {2, 3});
  EXPECT_ERROR(TypeError, KernelCall("matAdd")({a, a.transpose()}),
               "add: f64[2x3] and f64[3x2] cannot be broadcast together: dimensions must be equal "
               "or 1, counted from the last one; slice or reshape one of them");
}

TEST(ElementwiseBinary, SparseWithSparseMergesEntries) {
  for (DType dtype : dtypes)
    for (const auto& [name, f] : functions()) {
      if (dtype == DType::boolean && (is_arithmetic(name))) continue;
      SCOPED_TRACE(std::string(name) + " of " + std::string(to_string(dtype)));
      const Tile a = small_integers(dtype, {3, 4, 5}, 3).with_sparse_dims(2);
      const Tile b = small_integers(dtype, {3, 4, 5}, 4).with_sparse_dims(1);
      const Tile result = KernelCall(name)({a, b});
      const bool keeps_zeros = f(0, 0) == 0;
      EXPECT_EQ(result.sparse_dims(), keeps_zeros ? 2 : 0);
      const auto rounded = [&, &g = f](double x, double y) {
        return dtype == DType::f32 ? static_cast<double>(static_cast<float>(g(x, y))) : g(x, y);
      };
      expect_applied(result, a.dense(), b.dense(), rounded);
    }
}

TEST(ElementwiseBinary, MergedResultsDropZeros) {
  const Tile a = random_sparse({DType::f64, {50, 60}, 1}, 1, 0.3);
  EXPECT_EQ(KernelCall("sub")({a, a}).stored(), 0);
  EXPECT_EQ(KernelCall("greater")({a, a}).stored(), 0);
  EXPECT_EQ(KernelCall("add")({a, a}).stored(), a.stored());
}

TEST(ElementwiseBinary, SlicedSparseTilesWork) {
  const Tile whole = random_sparse({DType::f64, {6, 20}, 1}, 1, 0.5);
  const Tile a = whole.slice({3, 0}, {6, 20});
  const Tile b = whole.slice({0, 0}, {3, 20});
  const auto difference = [](double x, double y) { return x - y; };
  expect_applied(KernelCall("sub")({a, b}), a.dense(), b.dense(), difference);
  const auto product = [](double x, double y) { return x * y; };
  expect_applied(KernelCall("mul")({a, b.dense()}), a.dense(), b.dense(), product);
  expect_applied(KernelCall("neg")({a}), a.dense(), a.dense(), [](double x, double) { return -x; });
}

TEST(ElementwiseBinary, ProductsWithWhatIsNotStoredAreExactZeros) {
  const Tile sparse = peculiar_sparse();
  const Tile nans = Tile::full(DType::f64, {3, 4}, nan);
  for (const Tile& product : {KernelCall("mul")({sparse, nans}), KernelCall("mul")({nans, sparse}),
                              KernelCall("mul")({sparse, Tile::scalar(nan)}),
                              KernelCall("mul_scalar(value=2.0)")({sparse})}) {
    EXPECT_EQ(product.sparse_dims(), 1);
    EXPECT_EQ(product.stored(), sparse.stored());
    EXPECT_EQ(product.at<double>({1, 1}), 0);
  }
  EXPECT_TRUE(std::isnan(KernelCall("mul")({sparse, nans}).at<double>({0, 0})));
  const Tile scaled = KernelCall("mul")({Tile::of<double>({4}, {1, 10, 100, 1000}), sparse});
  EXPECT_EQ(scaled.at<double>({2, 3}), -1000);
}

TEST(ElementwiseBinary, AStoredZeroIsNoAnnihilatorEvenInAnotherDtype) {
  const Tile sparse = peculiar_sparse();  // stores a zero at [2x1]
  const Tile nans = Tile::full(DType::f32, {3, 4}, nan);
  EXPECT_TRUE(std::isnan(KernelCall("mul")({sparse, nans}).at<double>({2, 1})));
  const KernelCall halved("mul_scalar(value=0.5)");
  const Tile narrow = KernelCall("mul")({sparse, Tile::scalar(1.0F)});
  EXPECT_TRUE(halved({narrow}).is_stored({2, 1}));
}

TEST(ElementwiseBinary, ABroadcastSparseFactorAnnihilatesToo) {
  const Tile column = Tile::of<double>({3, 1}, {1, 0, 2}).with_sparse_dims(1);
  const Tile nans = Tile::full(DType::f64, {3, 2}, nan);
  const Tile product = KernelCall("mul")({column, nans});
  EXPECT_FALSE(product.is_sparse());
  EXPECT_TRUE(std::isnan(product.at<double>({0, 0})));
  EXPECT_EQ(product.at<double>({1, 1}), 0);
}

TEST(ElementwiseBinary, ElsewhereWhatIsNotStoredIsAZero) {
  const Tile sparse = peculiar_sparse();
  const Tile quotient = KernelCall("div")({sparse, sparse});
  EXPECT_FALSE(quotient.is_sparse());
  EXPECT_TRUE(std::isnan(quotient.at<double>({1, 1})));
  const Tile sum = KernelCall("add")({sparse, Tile::scalar(1.0)});
  EXPECT_FALSE(sum.is_sparse());
  EXPECT_EQ(sum.at<double>({1, 1}), 1);
  EXPECT_EQ(KernelCall("maximum")({sparse, KernelCall("neg")({sparse})}).at<double>({2, 3}), 1);
}

TEST(ElementwiseScalar, AgreesWithPlainLoopsOnBothSides) {
  for (const auto& [name, f] : functions()) {
    if (std::string(name).starts_with("logical") || std::string(name).starts_with("cross"))
      continue;
    for (DType dtype : dtypes)
      for (const ParamValue& value :
           {ParamValue(std::int64_t{2}), ParamValue(-0.5), ParamValue(0.0)})
        for (bool left : {false, true}) {
          const KernelCall call(std::string(name) + "_scalar", {{"value", value}, {"left", left}});
          SCOPED_TRACE(call.to_string() + " of " + std::string(to_string(dtype)));
          const double number = call.params().number("value");
          const Tile a = small_integers(dtype, {3, 5}, 1);
          const auto expected = [&, &g = f](double x, double) {
            const double exact = left ? g(number, x) : g(x, number);
            return dtype == DType::f32 ? static_cast<double>(static_cast<float>(exact)) : exact;
          };
          expect_applied(call({a}), a, a, expected);
          const Tile sparse = a.with_sparse_dims(1);
          const Tile result = call({sparse});
          expect_applied(result, a, a,
                         std::string(name) == "mul"
                             ? [&](double x, double) { return x * number; }
                             : std::function<double(double, double)>(expected));
          EXPECT_EQ(result.is_sparse(), std::string(name) == "mul" || expected(0, 0) == 0);
        }
  }
}

TEST(ElementwiseScalar, TheScalarIsWeak) {
  const auto dtype = [](const char* call, DType tile) {
    const TileType types[] = {{tile, {2}}};
    return KernelCall(call).infer(types)[0].dtype;
  };
  EXPECT_EQ(dtype("add_scalar(value=1)", DType::f32), DType::f32);
  EXPECT_EQ(dtype("add_scalar(value=1.5)", DType::f32), DType::f32);
  EXPECT_EQ(dtype("add_scalar(value=1)", DType::i64), DType::i64);
  EXPECT_EQ(dtype("add_scalar(value=1.5)", DType::i64), DType::f64);
  EXPECT_EQ(dtype("add_scalar(value=1)", DType::boolean), DType::i64);
  EXPECT_EQ(dtype("add_scalar(value=1.5)", DType::boolean), DType::f64);
  EXPECT_EQ(dtype("div_scalar(value=2)", DType::f32), DType::f32);
  EXPECT_EQ(dtype("div_scalar(value=2)", DType::i64), DType::f64);
  EXPECT_EQ(dtype("less_scalar(value=2)", DType::i64), DType::boolean);
}

TEST(ElementwiseScalar, IntegersBeyondTheReachOfDoublesStayExact) {
  const Tile a = Tile::scalar<std::int64_t>(1);
  const KernelCall call("add_scalar", {{"value", (std::int64_t{1} << 60) + 1}});
  EXPECT_EQ(elements<std::int64_t>(call({a}))[0], (std::int64_t{1} << 60) + 2);
}

TEST(ElementwiseScalar, TheValueAsTheTileHoldsItDecidesTheLayout) {
  const TileType f32[] = {{DType::f32, {2, 3}, 1}};
  const TileType f64[] = {{DType::f64, {2, 3}, 1}};
  // 1e-60 is zero in f32, and 0 / 0 is not zero.
  EXPECT_EQ(KernelCall("div_scalar(value=1e-60)").infer(f32)[0].sparse_dims, 0);
  EXPECT_EQ(KernelCall("div_scalar(value=1e-60)").infer(f64)[0].sparse_dims, 1);
  EXPECT_EQ(KernelCall("power_scalar(value=2)").infer(f64)[0].sparse_dims, 1);
  EXPECT_EQ(KernelCall("power_scalar(value=0)").infer(f64)[0].sparse_dims, 0);
  EXPECT_EQ(KernelCall("maximum_scalar(value=-1)").infer(f64)[0].sparse_dims, 1);
  EXPECT_EQ(KernelCall("maximum_scalar(value=1)").infer(f64)[0].sparse_dims, 0);
}

TEST(ElementwiseScalar, Powers) {
  const Tile a = Tile::of<std::int64_t>({3}, {-2, 0, 3});
  EXPECT_EQ(elements<std::int64_t>(KernelCall("power_scalar(value=3)")({a})),
            (std::vector<std::int64_t>{-8, 0, 27}));
  EXPECT_EQ(elements<double>(KernelCall("power_scalar(value=2.0)")({a})),
            (std::vector<double>{4, 0, 9}));
  EXPECT_ERROR(ValueError, KernelCall("power_scalar(value=-1)")({a}),
               "power_scalar: an integer to the negative power -1");
  EXPECT_ERROR(ValueError, KernelCall("power_scalar(value=2, left=true)")({a}),
               "power_scalar: an integer to the negative power -2");
  EXPECT_ERROR(TypeError, KernelCall("power_scalar(value=true)")({a}),
               "power_scalar: parameter 'value' must be a number");
}

TEST(AddInto, AddsDenseStridedSparseAndOtherDtypes) {
  for (DType dtype : dtypes)
    for (DType other : dtypes) {
      const Tile start = small_integers(dtype, {4, 30}, 1);
      const Tile addend = small_integers(other, {30, 4}, 2).transpose();
      for (int sparse_dims : {0, 1, 2}) {
        MutableTile accumulator = MutableTile::copy_of(start);
        add_into(accumulator, addend.with_sparse_dims(sparse_dims));
        const Tile expected = KernelCall("add")({start, addend.cast(dtype)});
        expect_applied(std::move(accumulator).publish(), expected, expected,
                       [](double x, double) { return x; });
      }
    }
}

TEST(Elementwise, EmptyTilesHaveEmptyResults) {
  const Tile empty = Tile::zeros(DType::f64, {0, 3});
  EXPECT_EQ(KernelCall("exp")({empty}).elements(), 0);
  EXPECT_EQ(KernelCall("add_scalar(value=1)")({empty}).elements(), 0);
  EXPECT_EQ(KernelCall("mul")({empty.with_sparse_dims(1), empty}).sparse_dims(), 1);
  MutableTile accumulator = MutableTile::copy_of(empty);
  add_into(accumulator, empty);
}

}  // namespace
}  // namespace tessera
