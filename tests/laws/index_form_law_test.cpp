#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernel/form/compiled_form.h"
#include "kernel/form/form_cache.h"
#include "support/expectations.h"
#include "support/random_forms.h"

// Compiled code computes what the definition of a form says, whatever the form is.

namespace tessera {
namespace {

std::int64_t number_in_environment(const char* name, std::int64_t otherwise) {
  const char* said = std::getenv(name);
  return said == nullptr ? otherwise : std::atoll(said);
}

/// The largest number, by which errors of rounding are measured: terms of that size may have
/// cancelled each other.
double size_of_numbers(const Tile& tile) {
  double size = 1;
  for (const double value : elements<double>(tile.cast(DType::f64)))
    if (std::isfinite(value)) size = std::max(size, std::fabs(value));
  return size;
}

bool has_f32(const TypedForm& form) {
  for (const auto& [term, dtype] : form.dtypes)
    if (dtype == DType::f32) return true;
  return false;
}

::testing::AssertionResult agree(const Tile& actual, const Tile& expected, double tolerance) {
  if (!is_float(expected.dtype())) return tiles_equal(actual, expected);
  const auto a = elements<double>(actual.cast(DType::f64));
  const auto e = elements<double>(expected.cast(DType::f64));
  const double allowed = tolerance * size_of_numbers(expected);
  for (std::size_t i = 0; i < e.size(); ++i) {
    if (a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]))) continue;
    if (std::fabs(a[i] - e[i]) <= allowed) continue;
    return ::testing::AssertionFailure()
           << "element " << i << " is " << a[i] << " and not " << e[i];
  }
  return ::testing::AssertionSuccess();
}

TEST(IndexFormLaws, CompiledCodeComputesWhatTheDefinitionSays) {
  if (form_compiler() == nullptr) GTEST_SKIP() << "there is no compiler of forms";
  const std::int64_t forms = number_in_environment("FORMS", 500);
  const std::int64_t seed = number_in_environment("SEED", 1);
  std::int64_t refused = 0, wrong = 0;
  for (std::int64_t i = 0; i < forms && wrong < 5; ++i) {
    Random random(static_cast<std::uint64_t>(seed * 1'000'003 + i));
    const RandomForm made = random_form(random);
    std::vector<TileType> types;
    for (const Tile& tile : made.arguments) types.push_back(tile.type());
    const std::string text = to_string(made.form);
    std::string described =
        "SEED=" + std::to_string(seed) + " form " + std::to_string(i) + ": " + text;
    for (const Tile& tile : made.arguments) described += "\n  " + to_string(tile.type());
    if (std::getenv("SHOW") != nullptr) std::cout << described << std::endl;
    const TypedForm form = typed(made.form, types);
    const auto result_of = [&](auto&& computation) {
      try {
        return std::pair(std::optional<Tile>(computation()), std::string());
      } catch (const ValueError& error) {
        return std::pair(std::optional<Tile>(), std::string(error.what()));
      }
    };
    const auto expected = result_of([&] { return interpret(form, made.arguments); });
    const auto actual = result_of([&] { return compute(text, form, made.arguments); });
    EXPECT_EQ(actual.second, expected.second) << described;
    refused += expected.second.empty() ? 0 : 1;
    if (expected.first && actual.first) {
      const auto same = agree(*actual.first, *expected.first, has_f32(form) ? 1e-4 : 1e-9);
      EXPECT_TRUE(same) << described;
      wrong += same ? 0 : 1;
    }
  }
  EXPECT_LT(refused, forms / 4 + 2);
  EXPECT_EQ(form_cache().failures(), 0);
}

}  // namespace
}  // namespace tessera
