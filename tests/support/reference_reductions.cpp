#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "support/reference_kernels.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

/// The positions of an argument that each cell of the result is made of, in row-major order.
struct Cells {
  Shape shape;
  std::vector<std::vector<std::int64_t>> members;
};

Cells cells_of(const Elements& a, const Params& params) {
  const int rank = a.shape.rank();
  std::vector<bool> reduced(rank, params.integers("axes").empty());
  for (std::int64_t axis : params.integers("axes")) {
    const int d = plain_axis(axis, rank);
    TESSERA_REQUIRE(TypeError, !reduced[d], "axis {} is named twice", axis);
    reduced[d] = true;
  }
  Shape kept;  // with the reduced dimensions as 1
  Cells cells;
  for (int d = 0; d < rank; ++d) {
    kept.push_back(reduced[d] ? 1 : a.shape[d]);
    if (!reduced[d] || params.flag("keepdims")) cells.shape.push_back(kept[d]);
  }
  cells.members.resize(kept.elements());
  for (std::int64_t i = 0; i < a.size(); ++i)
    cells.members[broadcast_position(index_of(i, a.shape), kept)].push_back(i);
  return cells;
}

using Members = std::vector<std::int64_t>;

/// Puts the result of reducing `members` of `a` at a position, with its tolerance.
using Reduce = void (*)(const Elements& a, const Members& members, Expected& result,
                        std::int64_t position);

Reference reduction(DType (*dtype)(DType), Reduce reduce, bool needs_elements = false) {
  return [=](const Arguments& arguments, const Params& params) {
    const Elements& a = arguments[0];
    const Cells cells = cells_of(a, params);
    Expected result{Elements(dtype(a.dtype), cells.shape)};
    if (is_float(result.values.dtype)) result.tolerances.resize(cells.members.size());
    for (std::size_t i = 0; i < cells.members.size(); ++i) {
      TESSERA_REQUIRE(ValueError, !needs_elements || !cells.members[i].empty(),
                      "nothing to reduce");
      reduce(a, cells.members[i], result, static_cast<std::int64_t>(i));
    }
    return equals(std::move(result));
  };
}

DType itself(DType dtype) { return dtype; }
DType number(DType dtype) { return dtype == DType::boolean ? DType::i64 : dtype; }
DType real(DType dtype) { return float_of(dtype); }
template <DType fixed>
DType always(DType) {
  return fixed;
}

/// Any order of n additions is within n rounding errors of the magnitudes' sum.
struct RealSum {
  long double sum = 0;
  double bound = 0;
  RealSum(const Elements& a, const Members& members, DType dtype) {
    double magnitudes = 0;
    for (std::int64_t i : members) {
      sum += a.reals[i];
      magnitudes += std::abs(a.reals[i]);
    }
    bound = epsilon_of(dtype) * static_cast<double>(members.size() + 2) * magnitudes;
    if (!std::isfinite(bound)) bound = 0;
  }
};

void sum(const Elements& a, const Members& members, Expected& result, std::int64_t position) {
  if (is_float(a.dtype)) {
    const RealSum total(a, members, a.dtype);
    result.values.set_real(position, static_cast<double>(total.sum));
    result.tolerances[position] = total.bound;
    return;
  }
  std::uint64_t total = 0;
  for (std::int64_t i : members) total += static_cast<std::uint64_t>(a.integers[i]);
  result.values.set_integer(position, static_cast<std::int64_t>(total));
}

void mean(const Elements& a, const Members& members, Expected& result, std::int64_t position) {
  const RealSum total(a, members, result.values.dtype);
  const auto count = static_cast<double>(members.size());
  result.values.set_real(position, static_cast<double>(total.sum) / count);
  result.tolerances[position] = count > 0 ? 2 * total.bound / count : 0;
}

void product(const Elements& a, const Members& members, Expected& result, std::int64_t position) {
  if (!is_float(a.dtype)) {
    std::uint64_t total = 1;
    for (std::int64_t i : members) total *= static_cast<std::uint64_t>(a.integers[i]);
    return result.values.set_integer(position, static_cast<std::int64_t>(total));
  }
  double total = 1;
  double growth = 0;  // the logarithms of the largest and least that any part may come to
  double decay = 0;
  for (std::int64_t i : members) {
    total *= a.reals[i];
    const double magnitude = std::abs(a.reals[i]);
    if (std::isfinite(magnitude) && magnitude > 0)
      (magnitude > 1 ? growth : decay) += std::log2(magnitude);
  }
  result.values.set_real(position, total);
  // Where some part may overflow or vanish, the order of the multiplications decides.
  const bool depends_on_order = growth > 1000 || decay < -1000;
  const double bound = 2 * epsilon_of(a.dtype) * static_cast<double>(members.size() + 1);
  result.tolerances[position] = depends_on_order       ? std::numeric_limits<double>::infinity()
                                : std::isfinite(total) ? bound * std::abs(total)
                                                       : 0;
}

/// Whether b takes the place of a: a NaN does, once.
template <bool largest>
bool beats(const Elements& a, std::int64_t b, std::int64_t best) {
  if (!is_float(a.dtype))
    return largest ? a.integers[b] > a.integers[best] : a.integers[b] < a.integers[best];
  if (std::isnan(a.reals[best])) return false;
  return std::isnan(a.reals[b]) ||
         (largest ? a.reals[b] > a.reals[best] : a.reals[b] < a.reals[best]);
}

template <bool largest>
std::size_t first_extreme(const Elements& a, const Members& members) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < members.size(); ++i)
    if (beats<largest>(a, members[i], members[best])) best = i;
  return best;
}

template <bool largest>
void extreme(const Elements& a, const Members& members, Expected& result, std::int64_t position) {
  result.values.set(position, a, members[first_extreme<largest>(a, members)]);
}

template <bool largest>
void extreme_index(const Elements& a, const Members& members, Expected& result,
                   std::int64_t position) {
  result.values.set_integer(position,
                            static_cast<std::int64_t>(first_extreme<largest>(a, members)));
}

std::int64_t nonzeros(const Elements& a, const Members& members) {
  return std::count_if(members.begin(), members.end(),
                       [&](std::int64_t i) { return a.is_nonzero(i); });
}

/// What is reduced for each element: those up to it along an axis, or before it.
Reference scan(Reduce reduce) {
  return [=](const Arguments& arguments, const Params& params) {
    const Elements& a = arguments[0];
    const int axis = plain_axis(params.integer("axis"), a.shape.rank());
    Expected result{Elements(number(a.dtype), a.shape)};
    if (is_float(result.values.dtype)) result.tolerances.resize(a.reals.size());
    for (std::int64_t i = 0; i < a.size(); ++i) {
      Members members;
      Index index = index_of(i, a.shape);
      const std::int64_t count = index[axis] + (params.flag("exclusive") ? 0 : 1);
      for (index[axis] = 0; index[axis] < count; ++index[axis])
        members.push_back(position_of(index, a.shape));
      reduce(a, members, result, i);
    }
    return equals(std::move(result));
  };
}

}  // namespace

References reduction_references() {
  return {
      {"sum", reduction(number, sum)},
      {"mean", reduction(real, mean)},
      {"product", reduction(number, product)},
      {"max", reduction(itself, extreme<true>, true)},
      {"min", reduction(itself, extreme<false>, true)},
      {"argmax", reduction(always<DType::i64>, extreme_index<true>, true)},
      {"argmin", reduction(always<DType::i64>, extreme_index<false>, true)},
      {"count_nonzero", reduction(always<DType::i64>,
                                  [](const Elements& a, const Members& members, Expected& result,
                                     std::int64_t position) {
                                    result.values.set_integer(position, nonzeros(a, members));
                                  })},
      {"all", reduction(always<DType::boolean>,
                        [](const Elements& a, const Members& members, Expected& result,
                           std::int64_t position) {
                          const auto count = static_cast<std::int64_t>(members.size());
                          result.values.set_integer(position, nonzeros(a, members) == count);
                        })},
      {"cumsum", scan(sum)},
      {"cumprod", scan(product)},
      {"any", reduction(always<DType::boolean>,
                        [](const Elements& a, const Members& members, Expected& result,
                           std::int64_t position) {
                          result.values.set_integer(position, nonzeros(a, members) > 0);
                        })},
  };
}

}  // namespace tessera
