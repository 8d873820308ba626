#include "calculus/inverse.h"

#include <algorithm>
#include <cstdlib>

#include "calculus/bounds.h"

namespace tessera::calculus {
namespace {

std::optional<std::int64_t> constant(const Term& term) {
  const auto* found = as<term::Number>(term);
  if (found == nullptr || found->value.dtype() != DType::i64) return std::nullopt;
  return found->value.as<std::int64_t>();
}

/// A sum of indices times constants, and what does not depend on them.
struct Linear {
  std::map<int, std::int64_t> coefficients;
  Term rest = integer(0);
};

class Reader {
 public:
  explicit Reader(const std::set<int>& known) : known_(known) {}

  bool is_known(const Term& term) const {
    const std::set<int> read = free_indices(term);
    return std::includes(known_.begin(), known_.end(), read.begin(), read.end());
  }

  std::optional<Linear> linear(const Term& term) const {
    if (is_known(term)) return Linear{{}, term};
    if (const auto* index = as<term::Position>(term)) return Linear{{{index->index, 1}}};
    const auto* function = as<term::Applied>(term);
    if (function == nullptr) return std::nullopt;
    const std::string_view name = function->function->name;
    const auto& arguments = function->arguments;
    if (name == "neg") return scaled(linear(arguments[0]), -1);
    if (name == "add" || name == "sub") {
      auto left = linear(arguments[0]);
      const auto right = scaled(linear(arguments[1]), name == "add" ? 1 : -1);
      if (!left || !right) return std::nullopt;
      for (const auto& [index, coefficient] : right->coefficients)
        left->coefficients[index] += coefficient;
      std::erase_if(left->coefficients, [](const auto& one) { return one.second == 0; });
      left->rest = sum(left->rest, right->rest);
      return left;
    }
    if (name != "mul") return std::nullopt;
    if (const auto factor = constant(arguments[0])) return scaled(linear(arguments[1]), *factor);
    if (const auto factor = constant(arguments[1])) return scaled(linear(arguments[0]), *factor);
    return std::nullopt;
  }

 private:
  static Term sum(const Term& a, const Term& b) {
    if (constant(a) == 0) return b;
    if (constant(b) == 0) return a;
    return applied("add", {a, b});
  }
  static std::optional<Linear> scaled(std::optional<Linear> form, std::int64_t factor) {
    constexpr std::int64_t largest = 1'000'000'000;
    if (!form || std::abs(factor) > largest || factor == 0) return std::nullopt;
    if (factor == 1) return form;
    for (auto& [index, coefficient] : form->coefficients) {
      if (std::abs(coefficient) > largest) return std::nullopt;
      coefficient *= factor;
    }
    if (const auto value = constant(form->rest))
      form->rest = integer(*value * factor);
    else
      form->rest = applied("mul", {form->rest, integer(factor)});
    return form;
  }

  const std::set<int>& known_;
};

/// The key without what does not depend on the indices.
Term without(const Term& rest) {
  const Term key = position(inverse_key);
  if (const auto value = constant(rest)) {
    if (*value == 0) return key;
    return *value > 0 ? applied("sub", {key, integer(*value)})
                      : applied("add", {key, integer(-*value)});
  }
  return applied("sub", {key, rest});
}

/// c1 * i1 + c2 * i2 + ... where each coefficient is the number of values of all after it, as
/// positions in an array of several dimensions are.
std::optional<Inverse> of_linear(const Linear& form, const std::vector<std::int64_t>& extents) {
  std::vector<std::pair<std::int64_t, int>> digits;
  for (const auto& [index, coefficient] : form.coefficients)
    digits.emplace_back(coefficient, index);
  std::sort(digits.rbegin(), digits.rend());
  const Term key = without(form.rest);
  if (digits.size() == 1 && digits[0].first < 0) {  // c - i
    if (digits[0].first != -1) return std::nullopt;
    return Inverse{{{digits[0].second, applied("neg", {key})}}};
  }
  Inverse found;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    const auto& [coefficient, index] = digits[d];
    if (coefficient <= 0) return std::nullopt;
    Term digit = coefficient == 1 ? key : applied("floor_divide", {key, integer(coefficient)});
    if (d > 0) {
      const std::int64_t extent = extents[static_cast<std::size_t>(index)];
      if (extent <= 0 || digits[d - 1].first != coefficient * extent) return std::nullopt;
      digit = applied("remainder", {digit, integer(extent)});
    }
    found.values.emplace(index, digit);
  }
  if (digits.back().first != 1)
    found.conditions.push_back(
        applied("equal", {applied("remainder", {key, integer(digits.back().first)}), integer(0)}));
  return found;
}

}  // namespace

std::optional<Inverse> inverse_of(const Term& key, const std::vector<std::int64_t>& extents,
                                  const std::set<int>& known) {
  const Reader reader(known);
  if (reader.is_known(key)) return Inverse{{}, {applied("equal", {position(inverse_key), key})}};
  if (const auto form = reader.linear(key)) return of_linear(*form, extents);
  const auto* function = as<term::Applied>(key);
  if (function == nullptr || function->arguments.size() != 2) return std::nullopt;
  const auto divisor = constant(function->arguments[1]);
  const auto inside = reader.linear(function->arguments[0]);
  if (!divisor || *divisor <= 0 || !inside || inside->coefficients.size() != 1) return std::nullopt;
  const auto [index, coefficient] = *inside->coefficients.begin();
  const std::int64_t extent = extents[static_cast<std::size_t>(index)];
  const Term rest = position(inverse_rest);
  if (function->function->name == "remainder" && std::abs(coefficient) == 1) {
    // (i + c) % m, of which a rotation has as many values as there are
    const Term shifted = without(inside->rest);
    const Term turned = applied(
        "remainder", {coefficient == 1 ? shifted : applied("neg", {shifted}), integer(*divisor)});
    if (extent <= *divisor) return Inverse{{{index, turned}}};
    return Inverse{{{index, applied("add", {turned, applied("mul", {rest, integer(*divisor)})})}},
                   {},
                   (extent - 1) / *divisor + 1};
  }
  if (function->function->name == "floor_divide" && coefficient == 1) {
    const Term first = applied("mul", {position(inverse_key), integer(*divisor)});
    const auto offset = constant(inside->rest);
    const Term shifted = offset == 0 ? first : applied("sub", {first, inside->rest});
    return Inverse{{{index, applied("add", {shifted, rest})}}, {}, *divisor};
  }
  return std::nullopt;
}

}  // namespace tessera::calculus
