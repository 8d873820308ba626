#include "key/linear.h"

#include <algorithm>
#include <limits>

namespace tessera {

using Form = LinearForms::Form;
using Term = LinearForms::Term;

LinearForms::LinearForms(const Bounds& bounds) {
  for (std::size_t i = 0; i < bounds.size(); ++i)
    atoms_.push_back({AtomKind::component, static_cast<int>(i), {}, 0, bounds[i]});
}

std::optional<Form> LinearForms::form_of(const KeyExpr& expr) {
  const auto known = forms_.find(&expr.node());
  if (known != forms_.end()) return known->second;
  auto result = std::visit(
      Match{[](const KeyExpr::Node::Constant& constant) -> std::optional<Form> {
              return Form{{}, constant.value};
            },
            [&](const KeyExpr::Node::Component& component) -> std::optional<Form> {
              return component_form(component.index);
            },
            [&](const KeyExpr::Node::Operation& form) { return operation(form); },
            [](const KeyExpr::Node::Opaque&) -> std::optional<Form> { return std::nullopt; }},
      expr.node().form);
  forms_.emplace(&expr.node(), result);
  return result;
}

Form LinearForms::component_form(int component) const {
  const Interval& values = atoms_[component].range;
  if (values.low == values.high) return {{}, values.low};
  return {{{component, 1}}, 0};
}

std::optional<Form> LinearForms::operation(const KeyExpr::Node::Operation& operation) {
  const auto left = form_of(operation.left);
  const auto right = left ? form_of(operation.right) : std::nullopt;
  if (!right) return std::nullopt;
  const bool constant = right->terms.empty();
  switch (operation.op) {
    case Arithmetic::add: return combine(*left, 1, *right);
    case Arithmetic::subtract: return combine(*left, -1, *right);
    case Arithmetic::multiply:
      if (constant) return combine({}, right->constant, *left);
      return left->terms.empty() ? combine({}, left->constant, *right) : std::nullopt;
    case Arithmetic::divide:
    case Arithmetic::modulo:
      return constant ? divide(operation.op, *left, right->constant) : std::nullopt;
  }
  return std::nullopt;
}

/// A negative divisor is made positive: a div -c = -a div c, and a mod -c = -(-a mod c).
std::optional<Form> LinearForms::divide(Arithmetic op, const Form& dividend, std::int64_t divisor) {
  if (divisor == 0 || divisor == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  const auto positive = combine({}, divisor > 0 ? 1 : -1, dividend);
  if (!positive) return std::nullopt;
  const std::int64_t magnitude = divisor > 0 ? divisor : -divisor;
  if (op == Arithmetic::divide) return quotient(*positive, magnitude);
  const auto rest = remainder(*positive, magnitude);
  return rest && divisor < 0 ? combine({}, -1, *rest) : rest;
}

std::optional<Form> LinearForms::combine(const Form& a, std::int64_t factor, const Form& b) {
  bool overflow = false;
  const auto scaled_sum = [&](std::int64_t x, std::int64_t y) {
    std::int64_t product = 0, sum = 0;
    overflow |= __builtin_mul_overflow(factor, y, &product);
    overflow |= __builtin_add_overflow(x, product, &sum);
    overflow |= sum == std::numeric_limits<std::int64_t>::min();  // it has no magnitude
    return sum;
  };
  Form result{{}, scaled_sum(a.constant, b.constant)};
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    const bool from_a = x != a.terms.end() && (y == b.terms.end() || x->atom <= y->atom);
    const bool from_b = y != b.terms.end() && (x == a.terms.end() || y->atom <= x->atom);
    const int atom = from_a ? x->atom : y->atom;
    const std::int64_t coefficient =
        scaled_sum(from_a ? x->coefficient : 0, from_b ? y->coefficient : 0);
    if (coefficient != 0) result.terms.push_back({atom, coefficient});
    if (from_a) ++x;
    if (from_b) ++y;
  }
  return overflow ? std::nullopt : std::optional(result);
}

std::optional<Interval> LinearForms::range(const Form& form) const {
  std::optional<Interval> sum = Interval{form.constant, form.constant};
  for (const Term& term : form.terms) {
    const auto part = apply(Arithmetic::multiply, atoms_[term.atom].range,
                            Interval{term.coefficient, term.coefficient});
    if (!part) return std::nullopt;
    sum = apply(Arithmetic::add, *sum, *part);
    if (!sum) return std::nullopt;
  }
  return sum;
}

namespace {

/// The parts a and b of form = divisor*a + b, with as little as possible left in b.
std::pair<Form, Form> split(const Form& form, std::int64_t divisor) {
  Form whole{{}, floor_div(form.constant, divisor)}, rest{{}, floor_mod(form.constant, divisor)};
  for (const auto& [atom, coefficient] : form.terms) {
    if (const auto factor = coefficient / divisor) whole.terms.push_back({atom, factor});
    if (const auto left = coefficient % divisor) rest.terms.push_back({atom, left});
  }
  return {whole, rest};
}

}  // namespace

std::optional<Form> LinearForms::quotient(const Form& dividend, std::int64_t divisor) {
  const auto [whole, rest] = split(dividend, divisor);
  const auto part = divided(AtomKind::quotient, rest, divisor);
  return part ? combine(whole, 1, *part) : std::nullopt;
}

std::optional<Form> LinearForms::remainder(const Form& dividend, std::int64_t divisor) {
  return divided(AtomKind::remainder, split(dividend, divisor).second, divisor);
}

std::optional<Form> LinearForms::divided(AtomKind kind, const Form& dividend,
                                         std::int64_t divisor) {
  const bool is_quotient = kind == AtomKind::quotient;
  const auto values = range(dividend);
  if (!values) return std::nullopt;
  if (floor_div(values->low, divisor) == floor_div(values->high, divisor)) {
    const std::int64_t fixed = floor_div(values->low, divisor);
    if (is_quotient) return Form{{}, fixed};
    return combine(dividend, -fixed, {{}, divisor});
  }
  if (is_quotient && dividend.constant == 0 && dividend.terms.size() == 1) {
    const auto [atom, coefficient] = dividend.terms.front();
    const Atom inner = atoms_[atom];
    std::int64_t product = 0;
    if (inner.kind == AtomKind::quotient && coefficient == 1 &&
        !__builtin_mul_overflow(inner.divisor, divisor, &product))
      return divided(kind, inner.dividend, product);
  }
  const auto same = [&](const Atom& atom) {
    return atom.kind == kind && atom.divisor == divisor && atom.dividend == dividend;
  };
  auto found = std::find_if(atoms_.begin(), atoms_.end(), same);
  if (found == atoms_.end()) {
    const auto bounds = apply(is_quotient ? Arithmetic::divide : Arithmetic::modulo, *values,
                              Interval{divisor, divisor});
    if (!bounds) return std::nullopt;
    found = atoms_.insert(atoms_.end(), {kind, -1, dividend, divisor, *bounds});
  }
  return Form{{{static_cast<int>(found - atoms_.begin()), 1}}, 0};
}

}  // namespace tessera
