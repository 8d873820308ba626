#include "laws/kernel_properties.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "laws/kernel_cases.h"
#include "laws/kernel_fuzz.h"
#include "support/elements.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

constexpr int trials = 50;

TEST(KernelProperties, EveryClaimHoldsOnRandomTiles) {
  int laws = 0;
  std::int64_t tried = 0;
  for (const auto& kernel : all_kernels()) {
    const ClaimsReport report = try_claims(kernel, 1, trials);
    for (const std::string& broken : report.broken) ADD_FAILURE() << broken;
    laws += report.laws;
    tried += report.trials;
  }
  std::cout << "kernel properties: " << laws << " claims, " << tried << " trials" << std::endl;
  EXPECT_GT(laws, 100);
}

// --- claims that do not hold are found out

using Formula = double (*)(double, double);

/// A kernel of two f64 numbers that is computed right and described by whoever registers it.
std::shared_ptr<const Kernel> described_as(Formula formula, const Properties& claims) {
  Kernel kernel{
      .name = "liar",
      .description = "claims what it likes",
      .min_arguments = 2,
      .max_arguments = 2,
      .properties = claims,
      .infer =
          [](Types types, const Params&) {
            return std::vector<TileType>{{float_of(promote(types[0].dtype, types[1].dtype)),
                                          broadcast_shapes(types[0].shape, types[1].shape)}};
          },
      .implementations = {{.name = "loop", .run = [formula](Tiles tiles, const Params&) {
                             const Shape shape =
                                 broadcast_shapes(tiles[0].shape(), tiles[1].shape());
                             const Elements a(tiles[0]);
                             const Elements b(tiles[1]);
                             Elements result(float_of(promote(a.dtype, b.dtype)), shape);
                             for (std::int64_t i = 0; i < result.size(); ++i) {
                               const Index index = index_of(i, shape);
                               result.set_real(
                                   i, formula(a.reals[broadcast_position(index, a.shape)],
                                              b.reals[broadcast_position(index, b.shape)]));
                             }
                             return std::vector{to_tile(result)};
                           }}}};
  return std::make_shared<const Kernel>(std::move(kernel));
}

double difference_of(double a, double b) { return a - b; }
double sum_of(double a, double b) { return a + b; }
double sum_and_one(double a, double b) { return a + b + 1; }

void expect_found_out(Formula formula, const Properties& claims, const std::string& law) {
  const ClaimsReport report = try_claims(described_as(formula, claims), 1, trials);
  EXPECT_EQ(report.laws, 1);
  ASSERT_FALSE(report.broken.empty()) << law;
  EXPECT_NE(report.broken[0].find(law), std::string::npos) << report.broken[0];
}

Properties claim(void (*make)(Properties&)) {
  Properties properties;
  make(properties);
  return properties;
}

TEST(KernelProperties, AFalseClaimIsFoundOut) {
  expect_found_out(difference_of, claim([](Properties& f) { f.commutative = true; }),
                   "f(a,b) = f(b,a)");
  expect_found_out(difference_of, claim([](Properties& f) { f.associative = true; }),
                   "f(f(a,b),c) = f(a,f(b,c))");
  expect_found_out(sum_of, claim([](Properties& f) { f.idempotent = true; }), "f(a,a) = a");
  expect_found_out(sum_and_one, claim([](Properties& f) { f.addition = true; }), "f(a,b) = a + b");
  expect_found_out(difference_of, claim([](Properties& f) { f.identity = 0; }),
                   "f(e,a) = f(a,e) = a for e = 0");
  expect_found_out(sum_and_one, claim([](Properties& f) { f.zero_preserving = true; }),
                   "f(0,...,0) = 0");
  expect_found_out(sum_of, claim([](Properties& f) { f.annihilated_by = {1}; }),
                   "f = 0 if argument 1 is 0");
  expect_found_out(sum_of, claim([](Properties& f) { f.linear_in = {0}; }), "linear in argument 0");
  expect_found_out(difference_of, claim([](Properties& f) {
                     f.distributes_over = {{"maximum", 1}};
                   }),
                   "distributes over maximum in argument 1");
}

TEST(KernelProperties, AClaimToWorkElementByElementIsFoundOut) {
  Kernel reversal = *find_kernel("transpose");
  reversal.properties = claim([](Properties& f) { f.elementwise = true; });
  EXPECT_FALSE(try_claims(std::make_shared<const Kernel>(reversal), 1, trials).broken.empty());
}

TEST(KernelProperties, TrueClaimsOfAUsersKernelPass) {
  const Properties claims = claim([](Properties& f) {
    f.elementwise = f.commutative = f.associative = f.zero_preserving = true;
    f.distributes_over = {{"maximum", 0}, {"minimum", 1}};
  });
  const ClaimsReport report = try_claims(described_as(sum_of, claims), 1, trials);
  EXPECT_TRUE(report.broken.empty()) << report.broken[0];
  EXPECT_EQ(report.laws, 6);
}

TEST(KernelProperties, WhatDoesNotHoldIsNotClaimed) {
  EXPECT_FALSE(find_kernel("sub")->properties.commutative);
  EXPECT_FALSE(find_kernel("matmul")->properties.commutative);
  EXPECT_FALSE(find_kernel("div")->properties.associative);
  EXPECT_FALSE(find_kernel("add")->properties.idempotent);
  EXPECT_FALSE(find_kernel("sub")->properties.addition);
  EXPECT_FALSE(find_kernel("exp")->properties.zero_preserving);
  EXPECT_TRUE(find_kernel("relu")->properties.linear_in.empty());
  EXPECT_FALSE(find_kernel("softmax")->properties.elementwise);
}

// --- what holds of every call

/// A call of a kernel that takes one or two tiles of one shape, on large ones.
KernelCase large_case(const std::shared_ptr<const Kernel>& kernel, const Shape& shape) {
  std::uint64_t seed = 0;
  Params params;
  for (const Parameter& parameter : kernel->parameters) {
    if (parameter.name == "value") params.set("value", 2.5);
    if (parameter.name == "dtype") params.set("dtype", std::string("f32"));
  }
  std::vector<Tile> arguments(kernel->min_arguments);
  for (Tile& tile : arguments) tile = random_uniform(DType::f64, shape, seed++, 0.5, 2);
  return {KernelCall(kernel, params), arguments};
}

/// Large results pass the caches by: their rows must be those of the rows alone.
TEST(KernelProperties, AnElementwiseKernelDoesNotSeeHowLargeItsTilesAre) {
  const std::int64_t columns = 1801;
  const std::int64_t rows = (std::int64_t{1} << 24) / 8 / columns + 2;  // some 16 MiB
  for (const std::string& name : builtin_kernel_names()) {
    const auto kernel = find_kernel(name);
    if (!kernel->properties.elementwise) continue;
    const KernelCase c = large_case(kernel, {rows, columns});
    const Tile whole = c.call(Tiles(c.arguments));
    for (std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
      std::vector<Tile> single;
      for (const Tile& tile : c.arguments)
        single.push_back(tile.slice({row, 0}, {row + 1, columns}));
      const Elements actual(whole.slice({row, 0}, {row + 1, columns}));
      const Elements expected(c.call(Tiles(single)));
      for (std::int64_t i = 0; i < columns; ++i)
        ASSERT_TRUE(same_element(actual, expected, i))
            << to_string(c) << ": row " << row << ", " << i << ": " << actual.print(i);
    }
  }
}

template <class F>
void for_random_cases(std::uint64_t seed, int cases, Values values, const F& f) {
  Random random(seed);
  for (int i = 0; i < cases; ++i) {
    const std::string& name = random.pick(builtin_kernel_names());
    f(random, random_case(random, find_kernel(name), {.tiles = {.values = values}, .dtype = {}}));
  }
}

TEST(KernelProperties, AccumulatingAddsWhatRunningYields) {
  int accumulated = 0;
  for_random_cases(2, 20000, Values::small_integers, [&](Random& random, const KernelCase& c) {
    std::vector<Tile> outputs;
    try {
      outputs = c.call.run(c.arguments);
    } catch (const Error&) {
      return;  // data without an answer
    }
    if (outputs.size() != 1) return;
    const Elements result(outputs[0]);
    const Tile start = random_tile(random, result.dtype, result.shape,
                                   {Values::small_integers, Layouts::contiguous});
    const Elements before(start);
    MutableTile accumulator = MutableTile::copy_of(start);
    c.call.accumulate(accumulator, c.arguments);
    const Elements after(std::move(accumulator).publish());
    ++accumulated;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      Elements expected(result.dtype, {});
      if (is_float(result.dtype))
        expected.set_real(0, before.reals[i] + result.reals[i]);
      else
        expected.set_integer(
            0, static_cast<std::int64_t>(static_cast<std::uint64_t>(before.integers[i]) +
                                         static_cast<std::uint64_t>(result.integers[i])));
      const bool same = is_float(result.dtype)
                            ? after.reals[i] == expected.reals[0] ||
                                  (std::isnan(after.reals[i]) && std::isnan(expected.reals[0]))
                            : after.integers[i] == expected.integers[0];
      ASSERT_TRUE(same) << to_string(c) << ": element " << to_string(index_of(i, result.shape))
                        << " is " << after.print(i) << ", not " << expected.print(0);
    }
  });
  EXPECT_GT(accumulated, 15000);
}

TEST(KernelProperties, CallsSurviveBeingWrittenAndRead) {
  for_random_cases(3, 20000, Values::peculiar, [&](Random&, const KernelCase& c) {
    for (const auto& [name, value] : c.call.params().values())
      if (const auto* number = std::get_if<double>(&value); number && std::isnan(*number)) return;
    const std::string text = c.call.to_string();
    ASSERT_TRUE(KernelCall(text) == c.call)
        << text << " is read as " << KernelCall(text).to_string();
  });
}

TEST(KernelProperties, CostsAreFiniteAndNotNegative) {
  for_random_cases(4, 20000, Values::small_integers, [&](Random&, const KernelCase& c) {
    const std::vector<TileType> types = types_of(c.arguments);
    try {
      c.call.infer(types);
    } catch (const Error&) {
      return;  // no answer, no cost
    }
    const Cost cost = c.call.cost(types);
    ASSERT_TRUE(std::isfinite(cost.flops) && cost.flops >= 0) << to_string(c) << cost.flops;
    ASSERT_TRUE(std::isfinite(cost.bytes) && cost.bytes >= 0) << to_string(c) << cost.bytes;
  });
}

}  // namespace
}  // namespace tessera
