#include <algorithm>

#include "key/linear.h"

namespace tessera {
namespace {

using Form = LinearForms::Form;

void collect_components(const LinearForms& forms, const Form& form, std::vector<int>& result) {
  for (const auto& [index, coefficient] : form.terms) {
    const LinearForms::Atom& atom = forms.atoms()[index];
    if (atom.kind == LinearForms::AtomKind::component) {
      result.push_back(atom.component);
    } else {
      collect_components(forms, atom.dividend, result);
    }
  }
}

/// Quotients of all integers of an interval are those of an interval; remainders are, if they go
/// all the way round.
std::optional<Interval> values_of(const LinearForms& forms, const LinearForms::Atom& atom) {
  if (atom.kind == LinearForms::AtomKind::component) return atom.range;
  const auto dividend = contiguous_values(forms, atom.dividend);
  if (!dividend) return std::nullopt;
  if (atom.kind == LinearForms::AtomKind::quotient)
    return Interval{floor_div(dividend->low, atom.divisor),
                    floor_div(dividend->high, atom.divisor)};
  if (dividend->width() < static_cast<std::uint64_t>(atom.divisor) - 1) return std::nullopt;
  return Interval{0, atom.divisor - 1};
}

}  // namespace

bool are_independent(const LinearForms& forms, const std::vector<Form>& values) {
  std::vector<int> used;
  for (const Form& value : values) {
    std::vector<int> components;
    collect_components(forms, value, components);
    std::sort(components.begin(), components.end());
    components.erase(std::unique(components.begin(), components.end()), components.end());
    used.insert(used.end(), components.begin(), components.end());
  }
  std::sort(used.begin(), used.end());
  return std::adjacent_find(used.begin(), used.end()) == used.end();
}

std::optional<Interval> contiguous_values(const LinearForms& forms, const Form& form) {
  struct Step {
    std::int64_t length;
    std::uint64_t count;
  };
  std::vector<Step> steps;
  std::vector<Form> parts;
  for (const auto& term : form.terms) {
    const auto values = values_of(forms, forms.atoms()[term.atom]);
    if (!values || *values != forms.atoms()[term.atom].range) return std::nullopt;
    steps.push_back({std::abs(term.coefficient), values->width()});
    parts.push_back({{term}, 0});
  }
  const auto range = forms.range(form);
  if (!range || !are_independent(forms, parts)) return std::nullopt;
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.length < b.length; });
  // Everything up to `reach` above the least value can be made of the steps so far.
  std::uint64_t reach = 0;
  for (const Step& step : steps) {
    if (static_cast<std::uint64_t>(step.length) > reach + 1) return std::nullopt;
    reach += static_cast<std::uint64_t>(step.length) * step.count;
  }
  return range;
}

}  // namespace tessera
