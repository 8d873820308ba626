#include "key/domain.h"

#include <algorithm>
#include <limits>

#include "key/closedness.h"
#include "key/linear.h"

namespace tessera {
namespace {

using Form = LinearForms::Form;

/// Narrows the bounds to where form >= 0 is possible: the law of each term is
///   a*x >= -(the greatest value of the rest).
void narrow_to_not_negative(const LinearForms& forms, const Form& form, Bounds& bounds) {
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    const auto [atom, coefficient] = form.terms[i];
    if (forms.atoms()[atom].kind != LinearForms::AtomKind::component) continue;
    Form rest = form;
    rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(i));
    const auto range = forms.range(rest);
    if (!range || range->high == std::numeric_limits<std::int64_t>::min()) continue;
    Interval& values = bounds[forms.atoms()[atom].component];
    if (coefficient > 0) {
      values.low = std::max(values.low, -floor_div(range->high, coefficient));
    } else {
      values.high = std::min(values.high, floor_div(range->high, -coefficient));
    }
  }
}

/// Cuts off an end of the bounds of a component at which the form is zero.
void narrow_to_not_zero(const LinearForms& forms, const Form& form, Bounds& bounds) {
  if (form.terms.size() != 1) return;
  const auto [atom, coefficient] = form.terms.front();
  if (forms.atoms()[atom].kind != LinearForms::AtomKind::component) return;
  if (form.constant % coefficient != 0) return;
  const std::int64_t zero = -(form.constant / coefficient);
  Interval& values = bounds[forms.atoms()[atom].component];
  if (values.low == zero) ++values.low;
  if (values.high == zero) --values.high;
}

void narrow(Bounds& bounds, const KeyPredicate::Node::Relation& relation) {
  LinearForms forms(bounds);
  const auto left = forms.form_of(relation.left);
  const auto right = left ? forms.form_of(relation.right) : std::nullopt;
  if (!right) return;
  const auto not_below = [&](const Form& a, const Form& b, std::int64_t margin) {
    const auto difference = LinearForms::combine(a, -1, b);
    const auto form =
        difference ? LinearForms::combine(*difference, -1, {{}, margin}) : std::nullopt;
    if (form) narrow_to_not_negative(forms, *form, bounds);
  };
  switch (relation.op) {
    case Comparison::equal:
      not_below(*left, *right, 0);
      not_below(*right, *left, 0);
      break;
    case Comparison::not_equal:
      if (const auto form = LinearForms::combine(*left, -1, *right))
        narrow_to_not_zero(forms, *form, bounds);
      break;
    case Comparison::less: not_below(*right, *left, 1); break;
    case Comparison::less_equal: not_below(*right, *left, 0); break;
    case Comparison::greater: not_below(*left, *right, 1); break;
    case Comparison::greater_equal: not_below(*left, *right, 0); break;
  }
}

bool is_empty(const Bounds& bounds) {
  return std::any_of(bounds.begin(), bounds.end(),
                     [](const Interval& interval) { return interval.low > interval.high; });
}

/// The least bounds around both.
Bounds hull(const Bounds& a, const Bounds& b) {
  if (is_empty(a)) return b;
  if (is_empty(b)) return a;
  Bounds result;
  for (std::size_t i = 0; i < a.size(); ++i)
    result.push_back({std::min(a[i].low, b[i].low), std::max(a[i].high, b[i].high)});
  return result;
}

/// Narrows the bounds to where the predicate can hold.
void narrow(Bounds& bounds, const KeyPredicate& predicate) {
  if (is_empty(bounds)) return;
  const auto& form = predicate.node().form;
  if (const auto* relation = std::get_if<KeyPredicate::Node::Relation>(&form)) {
    narrow(bounds, *relation);
  } else if (const auto* junction = std::get_if<KeyPredicate::Node::Junction>(&form)) {
    Bounds right = bounds;
    narrow(bounds, junction->left);
    if (junction->conjunction) {
      narrow(bounds, junction->right);
    } else {
      narrow(right, junction->right);
      bounds = hull(bounds, right);
    }
  }
}

Comparison opposite(Comparison op) {
  switch (op) {
    case Comparison::equal: return Comparison::not_equal;
    case Comparison::not_equal: return Comparison::equal;
    case Comparison::less: return Comparison::greater_equal;
    case Comparison::less_equal: return Comparison::greater;
    case Comparison::greater: return Comparison::less_equal;
    case Comparison::greater_equal: return Comparison::less;
  }
  return op;
}

/// The predicate, or its negation, without `not`. The laws of De Morgan leave it as it is which
/// parts are evaluated, and in which order.
KeyPredicate without_negations(const KeyPredicate& predicate, bool holds = true) {
  using Node = KeyPredicate::Node;
  return std::visit(
      Match{[&](const Node::Truth& form) { return make_truth(form.value == holds); },
            [&](const Node::Relation& form) {
              return make_relation(holds ? form.op : opposite(form.op), form.left, form.right);
            },
            [&](const Node::Junction& form) {
              const KeyPredicate left = without_negations(form.left, holds);
              const KeyPredicate right = without_negations(form.right, holds);
              return form.conjunction == holds ? left && right : left || right;
            },
            [&](const Node::Negation& form) { return without_negations(form.operand, !holds); },
            [&](const Node::Opaque&) { return holds ? predicate : !predicate; }},
      predicate.node().form);
}

}  // namespace

std::int64_t KeyDomain::points_within_bounds() const {
  Key extents;
  for (const Interval& interval : bounds)
    extents.push_back(static_cast<std::int64_t>(interval.width()) + 1);
  return volume(extents);
}

KeyDomain domain_of(const Key& extents, const KeyPredicate& where) {
  KeyDomain domain;
  for (const std::int64_t extent : extents) domain.bounds.push_back({0, extent - 1});
  // A conjunct is reached only by points that satisfy those before it, so that its values are
  // asked for within the bounds narrowed by them.
  for (const KeyPredicate& conjunct : conjuncts(without_negations(where))) {
    domain.defined = domain.defined && truth(conjunct, domain.bounds).has_value();
    narrow(domain.bounds, conjunct);
    domain.empty = is_empty(domain.bounds);
    if (domain.empty) return domain;
    domain.conditions.push_back(conjunct);
  }
  if (!domain.defined) return domain;
  for (const KeyPredicate& condition : domain.conditions) {
    narrow(domain.bounds, condition);
    domain.empty = is_empty(domain.bounds);
    if (domain.empty) return domain;
  }
  std::erase_if(domain.conditions, [&](const KeyPredicate& condition) {
    return truth(condition, domain.bounds) == Answer::yes;
  });
  domain.empty = std::any_of(
      domain.conditions.begin(), domain.conditions.end(),
      [&](const KeyPredicate& condition) { return truth(condition, domain.bounds) == Answer::no; });
  return domain;
}

}  // namespace tessera
