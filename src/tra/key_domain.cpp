#include "tra/key_domain.h"

#include <algorithm>
#include <limits>

#include "tra/closedness.h"
#include "tra/key_linear.h"

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

void narrow(Bounds& bounds, const KeyPredicate& conjunct) {
  const auto* relation = std::get_if<KeyPredicate::Node::Relation>(&conjunct.node().form);
  if (relation == nullptr) return;
  LinearForms forms(bounds);
  const auto left = forms.form_of(relation->left);
  const auto right = left ? forms.form_of(relation->right) : std::nullopt;
  if (!right) return;
  const auto not_below = [&](const Form& a, const Form& b, std::int64_t margin) {
    const auto difference = forms.combine(a, -1, b);
    const auto form = difference ? forms.combine(*difference, -1, {{}, margin}) : std::nullopt;
    if (form) narrow_to_not_negative(forms, *form, bounds);
  };
  switch (relation->op) {
    case Comparison::equal:
      not_below(*left, *right, 0);
      not_below(*right, *left, 0);
      break;
    case Comparison::not_equal:
      if (const auto form = forms.combine(*left, -1, *right))
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
  for (const KeyPredicate& conjunct : conjuncts(where)) {
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
