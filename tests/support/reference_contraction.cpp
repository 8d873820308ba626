#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "base/check.h"
#include "support/reference_kernels.h"
#include "support/sum_of_products.h"

namespace tessera {
namespace {

/// 'ik,kj->ij' as lists of letters.
struct Spec {
  std::string a, b, output;
};

Spec spec_of(const std::string& text) {
  std::string plain;
  for (char c : text)
    if (c != ' ') plain += c;
  const std::size_t arrow = plain.find("->"), comma = plain.find(',');
  TESSERA_REQUIRE(TypeError, comma != std::string::npos, "one operand");
  Spec spec{plain.substr(0, comma), plain.substr(comma + 1, arrow - comma - 1), ""};
  const std::string all = spec.a + spec.b;
  if (arrow != std::string::npos) {
    spec.output = plain.substr(arrow + 2);
  } else {
    for (char c : all)
      if (std::count(all.begin(), all.end(), c) == 1) spec.output += c;
    std::sort(spec.output.begin(), spec.output.end());
  }
  for (char c : spec.output)
    TESSERA_REQUIRE(TypeError,
                    all.find(c) != std::string::npos &&
                        std::count(spec.output.begin(), spec.output.end(), c) == 1,
                    "the index {} of the result", c);
  return spec;
}

using Extents = std::map<char, std::int64_t>;

void learn(Extents& extents, const std::string& letters, const Shape& shape) {
  TESSERA_REQUIRE(TypeError, std::cmp_equal(letters.size(), shape.size()), "another rank");
  for (std::size_t d = 0; d < letters.size(); ++d)
    TESSERA_REQUIRE(TypeError, extents.emplace(letters[d], shape[d]).first->second == shape[d],
                    "extents differ");
}

Shape shape_of(const std::string& letters, const Extents& extents) {
  Shape shape;
  for (char c : letters) shape.push_back(extents.at(c));
  return shape;
}

using Values = std::map<char, std::int64_t>;

/// Calls f for all values of the letters, beside those that are given.
template <class F>
void for_all(const std::string& letters, const Extents& extents, Values& values, const F& f,
             std::size_t from = 0) {
  if (from == letters.size()) return f();
  for (std::int64_t v = 0; v < extents.at(letters[from]); ++v) {
    values[letters[from]] = v;
    for_all(letters, extents, values, f, from + 1);
  }
}

std::int64_t position(const std::string& letters, const Values& values, const Shape& shape) {
  Index index;
  for (char c : letters) index.push_back(values.at(c));
  return position_of(index, shape);
}

/// An operand with each of its letters once, summed over those that nobody wants; beside it the
/// sums of the magnitudes, by which rounding errors are bounded.
struct Operand {
  std::string letters = {};
  Elements values = {};
  std::vector<double> magnitudes = {};
  std::int64_t terms = 1;

  /// Whether a sum may have cancelled to zero, or not, by the order in which it was added up.
  bool may_be_zero(std::int64_t position) const {
    const double off = epsilon_of(values.dtype) * static_cast<double>(terms) * magnitudes[position];
    return terms > 1 && off > 0 && std::abs(values.reals[position]) <= off;
  }

  Operand(const Elements& given, const std::string& written, const std::string& wanted,
          const Extents& extents) {
    std::string lonely;
    for (char c : written) {
      std::string& into = wanted.find(c) != std::string::npos ? letters : lonely;
      if (into.find(c) == std::string::npos) into += c;
    }
    for (char c : lonely) terms *= extents.at(c);
    values = Elements(given.dtype, shape_of(letters, extents));
    magnitudes.resize(static_cast<std::size_t>(values.size()));
    Values at;
    for_all(letters, extents, at, [&] {
      const std::int64_t to = position(letters, at, values.shape);
      long double real = 0;
      std::uint64_t integer = 0;
      bool any = false, stored = false;
      for_all(lonely, extents, at, [&] {
        const std::int64_t from = position(written, at, given.shape);
        stored = stored || given.stored[from] != 0;
        real += given.reals[from];
        integer += static_cast<std::uint64_t>(given.integers[from]);
        any = any || given.integers[from] != 0;
        magnitudes[to] += std::abs(given.reals[from]);
      });
      if (is_float(given.dtype))
        values.set_real(to, static_cast<double>(real));
      else
        values.set_integer(to, given.dtype == DType::boolean ? std::int64_t{any}
                                                             : static_cast<std::int64_t>(integer));
      values.stored[to] = static_cast<char>(!lonely.empty() || stored);
    });
  }
};

Judge einsum(const Arguments& arguments, const Params& params) {
  const Spec spec = spec_of(params.text("spec"));
  Extents extents;
  learn(extents, spec.a, arguments[0].shape);
  learn(extents, spec.b, arguments[1].shape);
  const DType dtype = promote(arguments[0].dtype, arguments[1].dtype);
  const Operand a(converted(arguments[0], dtype), spec.a, spec.b + spec.output, extents);
  const Operand b(converted(arguments[1], dtype), spec.b, spec.a + spec.output, extents);
  std::string summed;
  for (char c : a.letters)
    if (spec.output.find(c) == std::string::npos) summed += c;
  Expected result{Elements(dtype, shape_of(spec.output, extents))};
  if (is_float(dtype)) result.tolerances.resize(static_cast<std::size_t>(result.values.size()));
  Values at;
  for_all(spec.output, extents, at, [&] {
    const std::int64_t to = position(spec.output, at, result.values.shape);
    SumOfProducts sum;
    double magnitude = 0;
    std::int64_t terms = 0;
    bool unsettled = false;  // zero times infinity is NaN, and anything else is not
    for_all(summed, extents, at, [&] {
      const std::int64_t i = position(a.letters, at, a.values.shape);
      const std::int64_t j = position(b.letters, at, b.values.shape);
      sum.add_stored(a.values, i, b.values, j);
      if (a.values.stored[i] != 0 && b.values.stored[j] != 0)
        magnitude += a.magnitudes[i] * b.magnitudes[j];
      ++terms;
      unsettled = unsettled || (a.may_be_zero(i) && std::isinf(b.values.reals[j])) ||
                  (b.may_be_zero(j) && std::isinf(a.values.reals[i]));
    });
    sum.put(result, to, unsettled);
    const double bound =
        epsilon_of(dtype) * static_cast<double>(terms + a.terms + b.terms + 2) * magnitude;
    if (is_float(dtype) && !unsettled) result.tolerances[to] = std::isfinite(bound) ? bound : 0;
  });
  return equals(std::move(result));
}

}  // namespace

References contraction_references() { return {{"einsum", einsum}}; }

}  // namespace tessera
