#include "key/interval.h"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

using Expr = KeyExpr::Node;
using Predicate = KeyPredicate::Node;

/// The hull of the values at the four corners, which bounds every operation that is monotone in
/// each operand alone.
std::optional<Interval> hull(Arithmetic op, const Interval& a, const Interval& b) {
  Interval result{std::numeric_limits<std::int64_t>::max(),
                  std::numeric_limits<std::int64_t>::min()};
  for (const std::int64_t x : {a.low, a.high}) {
    for (const std::int64_t y : {b.low, b.high}) {
      const auto value = apply(op, x, y);
      if (!value) return std::nullopt;
      result = {std::min(result.low, *value), std::max(result.high, *value)};
    }
  }
  return result;
}

/// A remainder by one divisor is the dividend less a constant where the quotient does not change.
Interval remainder(const Interval& a, const Interval& b) {
  if (b.low == -1 && b.high == -1) return {0, 0};
  if (b.low == b.high && floor_div(a.low, b.low) == floor_div(a.high, b.low))
    return {floor_mod(a.low, b.low), floor_mod(a.high, b.low)};
  if (b.low < 0) return {b.low + 1, 0};
  return {0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
}

Answer negated(Answer answer) {
  if (answer == Answer::unknown) return answer;
  return answer == Answer::yes ? Answer::no : Answer::yes;
}

Answer truth_of(Comparison op, const Interval& a, const Interval& b) {
  const auto when = [](bool always, bool never) {
    return always ? Answer::yes : never ? Answer::no : Answer::unknown;
  };
  switch (op) {
    case Comparison::equal:
      return when(a.low == a.high && a == b, a.high < b.low || b.high < a.low);
    case Comparison::not_equal: return negated(truth_of(Comparison::equal, a, b));
    case Comparison::less: return when(a.high < b.low, a.low >= b.high);
    case Comparison::less_equal: return when(a.high <= b.low, a.low > b.high);
    case Comparison::greater: return truth_of(Comparison::less, b, a);
    case Comparison::greater_equal: return truth_of(Comparison::less_equal, b, a);
  }
  return Answer::unknown;
}

}  // namespace

std::optional<Interval> apply(Arithmetic op, const Interval& a, const Interval& b) {
  const bool divides = op == Arithmetic::divide || op == Arithmetic::modulo;
  if (divides && b.low <= 0 && b.high >= 0) return std::nullopt;
  return op == Arithmetic::modulo ? remainder(a, b) : hull(op, a, b);
}

std::optional<Interval> Ranges::operator()(const KeyExpr& expr) {
  using Result = std::optional<Interval>;
  const auto known = ranges_.find(&expr.node());
  if (known != ranges_.end()) return known->second;
  const Result result =
      std::visit(Match{[](const Expr::Constant& form) -> Result {
                         return Interval{form.value, form.value};
                       },
                       [&](const Expr::Component& form) -> Result { return bounds_[form.index]; },
                       [&](const Expr::Operation& form) -> Result {
                         const Result left = (*this)(form.left);
                         const Result right = (*this)(form.right);
                         return left && right ? apply(form.op, *left, *right) : std::nullopt;
                       },
                       [](const Expr::Opaque&) -> Result { return std::nullopt; }},
                 expr.node().form);
  ranges_.emplace(&expr.node(), result);
  return result;
}

std::optional<Answer> truth(const KeyPredicate& predicate, const Bounds& bounds) {
  using Result = std::optional<Answer>;
  return std::visit(Match{[](const Predicate::Truth& truth) -> Result {
                            return truth.value ? Answer::yes : Answer::no;
                          },
                          [&](const Predicate::Relation& relation) -> Result {
                            const auto left = Ranges(bounds)(relation.left);
                            const auto right = Ranges(bounds)(relation.right);
                            if (!left || !right) return std::nullopt;
                            return truth_of(relation.op, *left, *right);
                          },
                          [&](const Predicate::Junction& junction) -> Result {
                            const auto left = truth(junction.left, bounds);
                            const auto right = truth(junction.right, bounds);
                            if (!left || !right) return std::nullopt;
                            const Answer deciding = junction.conjunction ? Answer::no : Answer::yes;
                            if (*left == deciding || *right == deciding) return deciding;
                            return *left == *right ? *left : Answer::unknown;
                          },
                          [&](const Predicate::Negation& negation) -> Result {
                            const auto operand = truth(negation.operand, bounds);
                            return operand ? Result(negated(*operand)) : std::nullopt;
                          },
                          [](const Predicate::Opaque&) -> Result { return std::nullopt; }},
                    predicate.node().form);
}

}  // namespace tessera
