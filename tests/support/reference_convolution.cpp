#include <cmath>
#include <cstdint>

#include "base/check.h"
#include "support/reference_kernels.h"
#include "support/sum_of_products.h"

namespace tessera {
namespace {

using Integers = std::vector<std::int64_t>;

Integers for_each_dimension(const Params& params, const char* name, int dims, std::int64_t least) {
  Integers values = params.integers(name);
  if (values.size() == 1) values.assign(dims, values[0]);
  TESSERA_REQUIRE(TypeError, std::cmp_equal(values.size(), dims), "one number a dimension");
  for (std::int64_t value : values)
    TESSERA_REQUIRE(TypeError, value >= least, "a number too small");
  return values;
}

/// output[n, f, p] = sum over c, q of input[n, c, stride * p + q - padding] * weights[f, c, q],
/// where the input is zero outside its extents. Whether that zero meets a weight of NaN or
/// infinity, or is passed over, is left open.
Judge conv(const Arguments& arguments, const Params& params) {
  const int rank = arguments[1].shape.rank();
  const int dims = rank - 2;
  const bool batched = arguments[0].shape.rank() == rank;
  TESSERA_REQUIRE(TypeError,
                  dims >= 1 && dims <= 3 && (batched || arguments[0].shape.rank() == rank - 1),
                  "ranks do not fit");
  DType dtype = promote(arguments[0].dtype, arguments[1].dtype);
  if (dtype == DType::boolean) dtype = DType::i64;
  Elements input = converted(arguments[0], dtype);
  const Elements weights = converted(arguments[1], dtype);
  if (!batched) {
    Shape with_batch = {1};
    for (std::int64_t extent : input.shape) with_batch.push_back(extent);
    input.shape = with_batch;
  }
  TESSERA_REQUIRE(TypeError, input.shape[1] == weights.shape[1], "channels differ");
  const Integers stride = for_each_dimension(params, "stride", dims, 1);
  const Integers padding = for_each_dimension(params, "padding", dims, 0);
  Shape output = {input.shape[0], weights.shape[0]};
  for (int d = 0; d < dims; ++d) {
    const std::int64_t window = weights.shape[2 + d];
    const std::int64_t room = input.shape[2 + d] + 2 * padding[d] - window;
    TESSERA_REQUIRE(TypeError, window > 0 && room >= 0, "the window does not fit");
    output.push_back(room / stride[d] + 1);
  }
  Expected result{Elements(dtype, output)};
  const Shape filter(weights.shape.begin() + 1, weights.shape.end());  // channels and window
  for (std::int64_t o = 0; o < result.values.size(); ++o) {
    const Index at = index_of(o, output);
    SumOfProducts sum;
    bool unsettled = false;
    for (std::int64_t q = 0; q < filter.elements(); ++q) {
      const Index in_filter = index_of(q, filter);
      const std::int64_t weight = at[1] * filter.elements() + q;
      Index from = {at[0], in_filter[0]};
      bool inside = true;
      for (int d = 0; d < dims; ++d) {
        from.push_back(stride[d] * at[2 + d] + in_filter[1 + d] - padding[d]);
        inside = inside && from.back() >= 0 && from.back() < input.shape[2 + d];
      }
      if (inside)
        sum.add(input, position_of(from, input.shape), weights, weight);
      else
        unsettled = unsettled || !std::isfinite(weights.reals[weight]);
    }
    sum.put(result, o, unsettled);
  }
  if (!batched) result.values.shape = Shape(output.begin() + 1, output.end());
  return equals(std::move(result));
}

}  // namespace

References convolution_references() { return {{"conv", conv}}; }

}  // namespace tessera
