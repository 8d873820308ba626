#include "support/reference_kernels.h"

#include <fmt/format.h>

#include <cfloat>
#include <cmath>

#include "base/check.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

bool within(const Elements& actual, const Expected& expected, std::int64_t i) {
  if (same_element(actual, expected.values, i)) return true;
  if (expected.tolerances.empty()) return false;
  const double tolerance = expected.tolerances[i];
  if (std::isinf(tolerance)) return true;
  // Below the least normal number digits get lost, and some libraries round it to zero.
  const double floor = actual.dtype == DType::f32 ? FLT_MIN : DBL_MIN;
  return std::abs(actual.reals[i] - expected.values.reals[i]) <= tolerance + floor;
}

std::string difference(const Elements& actual, const Expected& expected) {
  const Elements& wanted = expected.values;
  if (actual.dtype != wanted.dtype || actual.shape != wanted.shape)
    return fmt::format("it is {}, not {}", to_string(TileType{actual.dtype, actual.shape}),
                       to_string(TileType{wanted.dtype, wanted.shape}));
  for (std::int64_t i = 0; i < actual.size(); ++i)
    if (!within(actual, expected, i))
      return fmt::format(
          "element {} is {}, not {}{}", to_string(index_of(i, actual.shape)), actual.print(i),
          wanted.print(i),
          expected.tolerances.empty() ? "" : fmt::format(" within {}", expected.tolerances[i]));
  return "";
}

}  // namespace

Judge equals(std::vector<Expected> expected) {
  return [expected = std::move(expected)](const std::vector<Elements>& outputs) -> std::string {
    if (outputs.size() != expected.size())
      return fmt::format("{} outputs, not {}", outputs.size(), expected.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (const std::string wrong = difference(outputs[i], expected[i]); !wrong.empty())
        return fmt::format("output {}: {}", i, wrong);
    return "";
  };
}

Judge equals(Expected output) { return equals(std::vector{std::move(output)}); }

double epsilon_of(DType dtype) {
  return dtype == DType::f32 ? FLT_EPSILON : dtype == DType::f64 ? DBL_EPSILON : 0;
}

int plain_axis(std::int64_t axis, int rank) {
  TESSERA_REQUIRE(TypeError, axis >= -rank && axis < rank, "axis {} of {}", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

const References& all_references() {
  static const References all = [] {
    References result;
    for (auto family : {elementwise_references, reduction_references, rearrangement_references,
                        product_references, contraction_references, convolution_references,
                        factorization_references})
      result.merge(family());
    return result;
  }();
  return all;
}

}  // namespace tessera
