#include "calculus/bounds.h"

#include <algorithm>

#include "kernel/form/operations.h"

namespace tessera::calculus {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 62U;

std::optional<Bounds> checked(__int128 low, __int128 high) {
  if (low < -largest || high > largest) return std::nullopt;
  return Bounds{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

std::optional<Bounds> of_product(const Bounds& a, const Bounds& b) {
  const __int128 corners[] = {
      static_cast<__int128>(a.low) * b.low, static_cast<__int128>(a.low) * b.high,
      static_cast<__int128>(a.high) * b.low, static_cast<__int128>(a.high) * b.high};
  return checked(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
}

std::optional<Bounds> of_function(std::string_view name, const Bounds& a, const Bounds& b) {
  const auto sum = [](std::int64_t x, std::int64_t y) { return static_cast<__int128>(x) + y; };
  if (name == "add") return checked(sum(a.low, b.low), sum(a.high, b.high));
  if (name == "sub") return checked(sum(a.low, -b.high), sum(a.high, -b.low));
  if (name == "mul") return of_product(a, b);
  if (name == "maximum") return Bounds{std::max(a.low, b.low), std::max(a.high, b.high)};
  if (name == "minimum") return Bounds{std::min(a.low, b.low), std::min(a.high, b.high)};
  if (b.low != b.high || b.low <= 0) return std::nullopt;  // only positive divisors are constant
  if (name == "floor_divide")
    return Bounds{FloorDivide()(a.low, b.low), FloorDivide()(a.high, b.low)};
  if (name != "remainder") return std::nullopt;
  if (FloorDivide()(a.low, b.low) == FloorDivide()(a.high, b.low))
    return Bounds{Remainder()(a.low, b.low), Remainder()(a.high, b.low)};
  return Bounds{0, b.low - 1};
}

}  // namespace

std::optional<Bounds> bounds_of(const Term& term, const std::vector<std::int64_t>& extents) {
  if (const auto* constant = as<term::Number>(term)) {
    if (constant->value.dtype() != DType::i64) return std::nullopt;
    const auto value = constant->value.as<std::int64_t>();
    return checked(value, value);
  }
  if (const auto* index = as<term::Position>(term)) {
    const std::int64_t extent = extents[static_cast<std::size_t>(index->index)];
    return Bounds{0, std::max<std::int64_t>(0, extent - 1)};
  }
  const auto* function = as<term::Applied>(term);
  if (function == nullptr || function->function->gives_boolean) return std::nullopt;
  const auto a = bounds_of(function->arguments[0], extents);
  if (!a) return std::nullopt;
  if (function->arguments.size() == 1)
    return function->function->name == "neg"
               ? checked(-static_cast<__int128>(a->high), -static_cast<__int128>(a->low))
               : std::nullopt;
  const auto b = bounds_of(function->arguments[1], extents);
  return b ? of_function(function->function->name, *a, *b) : std::nullopt;
}

std::optional<bool> decided(const Term& condition, const std::vector<std::int64_t>& extents) {
  if (const auto* constant = as<term::Number>(condition)) return constant->value.as<bool>();
  const auto* compared = as<term::Applied>(condition);
  if (compared == nullptr || compared->arguments.size() != 2) return std::nullopt;
  const std::string_view name = compared->function->name;
  if (name == "logical_and") {
    const auto a = decided(compared->arguments[0], extents);
    const auto b = decided(compared->arguments[1], extents);
    if ((a && !*a) || (b && !*b)) return false;
    return a && b ? std::optional(true) : std::nullopt;
  }
  const auto a = bounds_of(compared->arguments[0], extents);
  const auto b = bounds_of(compared->arguments[1], extents);
  if (!a || !b) return std::nullopt;
  const auto ordered = [](bool always, bool never) {
    return always ? std::optional(true) : never ? std::optional(false) : std::nullopt;
  };
  if (name == "less") return ordered(a->high < b->low, a->low >= b->high);
  if (name == "less_equal") return ordered(a->high <= b->low, a->low > b->high);
  if (name == "greater") return ordered(a->low > b->high, a->high <= b->low);
  if (name == "greater_equal") return ordered(a->low >= b->high, a->high < b->low);
  const bool apart = a->high < b->low || b->high < a->low;
  const bool equal = a->low == a->high && b->low == b->high && a->low == b->low;
  if (name == "equal") return ordered(equal, apart);
  if (name == "not_equal") return ordered(apart, equal);
  return std::nullopt;
}

}  // namespace tessera::calculus
