#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "key/expression.h"

namespace tessera {

/// The integers from `low` to `high`, both included.
struct Interval {
  std::int64_t low, high;
  std::uint64_t width() const {
    return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// An interval for each component of a point.
using Bounds = std::vector<Interval>;

/// Intervals that hold the values of expressions at all points within the bounds. Nothing, if it
/// cannot be excluded that somewhere an expression has no value. A subexpression that is shared is
/// looked at once.
class Ranges {
 public:
  explicit Ranges(Bounds bounds) : bounds_(std::move(bounds)) {}
  std::optional<Interval> operator()(const KeyExpr& expr);

 private:
  Bounds bounds_;
  std::unordered_map<const KeyExpr::Node*, std::optional<Interval>> ranges_;
};

/// The interval of a op b.
std::optional<Interval> apply(Arithmetic op, const Interval& a, const Interval& b);

/// Whether a predicate holds at all points within the bounds (yes) or at none (no). Nothing, if it
/// cannot be excluded that somewhere it has no value.
std::optional<Answer> truth(const KeyPredicate& predicate, const Bounds& bounds);

}  // namespace tessera
