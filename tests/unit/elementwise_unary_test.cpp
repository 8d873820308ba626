#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "support/expectations.h"
#include "support/special_values.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

TEST(ElementwiseUnary, AgreesWithPlainLoops) {
  const std::vector<std::pair<const char*, std::function<double(double)>>> unary = {
      {"neg", [](double a) { return -a; }},
      {"abs", [](double a) { return std::abs(a); }},
      {"square", [](double a) { return a * a; }},
      {"relu", [](double a) { return a > 0 ? a : 0; }},
      {"relu_deriv", [](double a) { return a > 0; }},
      {"logical_not", [](double a) { return a == 0; }},
      {"exp", [](double a) { return std::exp(a); }},
      {"log", [](double a) { return std::log(a); }},
      {"sqrt", [](double a) { return std::sqrt(a); }},
      {"sigmoid", [](double a) { return 1 / (1 + std::exp(-a)); }},
      {"tanh", [](double a) { return std::tanh(a); }},
  };
  for (const auto& [name, f] : unary)
    for (DType dtype : dtypes)
      for (int sparse_dims : {0, 1, 2}) {
        if (dtype == DType::boolean && std::string(name) == "neg") continue;
        SCOPED_TRACE(std::string(name) + " of " + std::string(to_string(dtype)));
        const Tile a = random_integers(dtype, {4, 5}, 7, dtype == DType::boolean ? 0 : -3, 4);
        const Tile result = KernelCall(name)({a.with_sparse_dims(sparse_dims)});
        EXPECT_EQ(result.sparse_dims(), f(0) == 0 ? sparse_dims : 0);
        for (std::int64_t i = 0; i < a.elements(); ++i) {
          const double expected = f(a.at<double>({i / 5, i % 5}));
          const auto actual = result.at<double>({i / 5, i % 5});
          if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(actual));
          else if (std::isfinite(expected))
            EXPECT_NEAR(actual, expected,
                        std::abs(expected) * (dtype == DType::f32 ? 1e-6 : 1e-15));
          else
            EXPECT_EQ(actual, expected);
        }
      }
}

TEST(ElementwiseUnary, Dtypes) {
  const auto dtype = [](const char* kernel, DType tile) {
    const TileType types[] = {{tile, {2}}};
    return KernelCall(kernel).infer(types)[0].dtype;
  };
  EXPECT_EQ(dtype("exp", DType::f32), DType::f32);
  EXPECT_EQ(dtype("exp", DType::i64), DType::f64);
  EXPECT_EQ(dtype("softmax", DType::boolean), DType::f64);
  EXPECT_EQ(dtype("relu_deriv", DType::i64), DType::i64);
  EXPECT_EQ(dtype("abs", DType::boolean), DType::boolean);
  EXPECT_EQ(dtype("square", DType::boolean), DType::i64);
  EXPECT_EQ(dtype("logical_not", DType::f64), DType::boolean);
  EXPECT_ERROR(TypeError, dtype("neg", DType::boolean), "neg: bool[2] is not supported");
}

TEST(ElementwiseUnary, Extremes) {
  const Tile integers = Tile::of<std::int64_t>({2}, {least, -5});
  EXPECT_EQ(elements<std::int64_t>(KernelCall("abs")({integers})),
            (std::vector<std::int64_t>{least, 5}));
  EXPECT_EQ(elements<std::int64_t>(KernelCall("neg")({integers})),
            (std::vector<std::int64_t>{least, 5}));
  const Tile wide = Tile::of<double>({4}, {-1000, 1000, -infinity, nan});
  const std::vector<double> sigmoid = elements<double>(KernelCall("sigmoid")({wide}));
  EXPECT_EQ(std::vector<double>(sigmoid.begin(), sigmoid.begin() + 3),
            (std::vector<double>{0, 1, 0}));
  EXPECT_TRUE(std::isnan(sigmoid[3]));
  EXPECT_GT(elements<double>(KernelCall("sigmoid")({Tile::scalar(-700.0)}))[0], 0);
  EXPECT_TRUE(std::isnan(elements<double>(KernelCall("relu")({wide}))[3]));
}

TEST(ElementwiseUnary, SoftmaxIsStableAndRunsAlongTheLastDimension) {
  const Tile a = Tile::of<double>({2, 3}, {1000, 1000, 1000, 0, std::log(2), std::log(5)});
  const Tile result = KernelCall("rowSoftmax")({a});
  const std::vector<double> expected = {1 / 3., 1 / 3., 1 / 3., 1 / 8., 2 / 8., 5 / 8.};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(elements<double>(result)[i], expected[i], 1e-15);
  const Tile columns = KernelCall("softmax")({a.transpose().cast(DType::f32).transpose()});
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(elements<float>(columns)[i], expected[i], 1e-6);
  EXPECT_EQ(KernelCall("softmax")({Tile::zeros(DType::f64, {3, 0})}).shape(), (Shape{3, 0}));
  EXPECT_NEAR(KernelCall("softmax")({a.with_sparse_dims(1)}).at<double>({1, 2}), 5 / 8., 1e-15);
  EXPECT_ERROR(TypeError, KernelCall("softmax")({Tile::scalar(1.0)}),
               "softmax: f64[] is not supported");
}

}  // namespace
}  // namespace tessera
