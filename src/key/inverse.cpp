#include "key/inverse.h"

#include <algorithm>

namespace tessera {
namespace {

using Form = LinearForms::Form;

int highest_atom(const Form& form) { return form.terms.empty() ? -1 : form.terms.back().atom; }

std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

}  // namespace

InverseGuess::InverseGuess(KeyQuery& query, LinearForms& forms, const Key& example)
    : query_(query), forms_(forms), example_(example) {}

void InverseGuess::equate(const Form& form, Term value) { solve(form, value, false); }

KeyQuery::Point InverseGuess::point() {
  while (advance()) {
  }
  std::vector<Term> components;
  for (const LinearForms::Atom& atom : forms_.atoms()) {
    if (atom.kind != LinearForms::AtomKind::component) continue;
    components.push_back(known(atom.component).value_or(constant(example_[atom.component])));
  }
  return query_.point(std::move(components));
}

/// What is forced comes first; a choice is made only where nothing is forced any more.
bool InverseGuess::advance() {
  return equate_where_one_is_open(zeros_, false) || resolve_digits() ||
         equate_where_one_is_open(not_negative_, true);
}

bool InverseGuess::equate_where_one_is_open(std::vector<Form>& forms, bool clamp) {
  for (auto form = forms.begin(); form != forms.end(); ++form) {
    if (open_terms(*form).size() != 1) continue;
    const Form next = *form;
    forms.erase(form);
    solve(next, constant(0), clamp);
    return true;
  }
  return false;
}

/// The number made of the latest atom goes first: its value is a digit of earlier ones.
bool InverseGuess::resolve_digits() {
  Digits* latest = nullptr;
  for (Digits& digits : digits_) {
    if (digits.resolved) continue;
    if (latest == nullptr || highest_atom(digits.number) > highest_atom(latest->number))
      latest = &digits;
  }
  if (latest == nullptr) return false;
  latest->resolved = true;
  const Form number = latest->number;
  Term value = latest->sum;
  const auto range = forms_.range(number);
  if (range && latest->modulus && range->low != 0) {
    const Term above = query_.apply(Arithmetic::modulo, scaled_sum(value, -1, constant(range->low)),
                                    constant(*latest->modulus));
    value = scaled_sum(above, 1, constant(range->low));
  } else if (range && range->low > 0) {
    value = at_least(value, range->low);
  }
  solve(number, value, false);
  return true;
}

void InverseGuess::solve(const Form& form, Term value, bool clamp) {
  std::vector<LinearForms::Term> open = open_terms(form);
  // What is left to share out above the least values of the open atoms.
  Term left = scaled_sum(value, -1, constant(form.constant));
  for (const auto& [atom, coefficient] : form.terms)
    if (const auto given = known(atom)) left = scaled_sum(left, -coefficient, *given);
  for (const auto& [atom, coefficient] : open) {
    const Interval& range = forms_.atoms()[atom].range;
    left = scaled_sum(left, -coefficient, constant(coefficient > 0 ? range.low : range.high));
  }
  std::stable_sort(open.begin(), open.end(), [](const auto& a, const auto& b) {
    return magnitude(a.coefficient) > magnitude(b.coefficient);
  });
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto [atom, coefficient] = open[i];
    const Interval range = forms_.atoms()[atom].range;
    const std::int64_t unit = magnitude(coefficient);
    Term share = unit == 1 ? left : query_.apply(Arithmetic::divide, left, constant(unit));
    if (clamp) share = at_least(share, 0);
    if (clamp || !is_positional(open, i))
      share = at_most(share, static_cast<std::int64_t>(range.width()));
    left = scaled_sum(left, -unit, share);
    assign(atom, coefficient > 0 ? scaled_sum(constant(range.low), 1, share)
                                 : scaled_sum(constant(range.high), -1, share));
  }
}

/// Whether the terms after the one at the index add up to less than a unit of it.
bool InverseGuess::is_positional(const std::vector<LinearForms::Term>& terms,
                                 std::size_t index) const {
  unsigned __int128 rest = 0;
  for (std::size_t i = index + 1; i < terms.size(); ++i)
    rest += static_cast<unsigned __int128>(magnitude(terms[i].coefficient)) *
            forms_.atoms()[terms[i].atom].range.width();
  return rest < static_cast<unsigned __int128>(magnitude(terms[index].coefficient));
}

void InverseGuess::assign(int atom, Term value) {
  values_.resize(forms_.atoms().size());
  values_[atom] = value;
  const LinearForms::Atom& assigned = forms_.atoms()[atom];
  switch (assigned.kind) {
    case LinearForms::AtomKind::component: break;
    case LinearForms::AtomKind::quotient:
      add_digit(assigned.dividend, scaled_sum(constant(0), assigned.divisor, value), std::nullopt);
      break;
    case LinearForms::AtomKind::remainder:
      add_digit(assigned.dividend, value, assigned.divisor);
      break;
  }
}

void InverseGuess::add_digit(const Form& number, Term value, std::optional<std::int64_t> modulus) {
  const auto same = [&](const Digits& digits) { return digits.number == number; };
  const auto found = std::find_if(digits_.begin(), digits_.end(), same);
  if (found == digits_.end()) {
    digits_.push_back({number, value, modulus});
  } else {
    found->sum = scaled_sum(found->sum, 1, value);
    found->modulus = std::nullopt;
  }
}

std::vector<LinearForms::Term> InverseGuess::open_terms(const Form& form) {
  std::vector<LinearForms::Term> open;
  for (const LinearForms::Term& term : form.terms)
    if (!known(term.atom)) open.push_back(term);
  return open;
}

std::optional<KeyQuery::Term> InverseGuess::known(int atom) {
  values_.resize(forms_.atoms().size());
  if (values_[atom]) return values_[atom];
  const LinearForms::Atom& unassigned = forms_.atoms()[atom];
  if (unassigned.kind == LinearForms::AtomKind::component) return std::nullopt;
  const auto dividend = known(unassigned.dividend);
  if (!dividend) return std::nullopt;
  const bool is_quotient = unassigned.kind == LinearForms::AtomKind::quotient;
  values_[atom] = query_.apply(is_quotient ? Arithmetic::divide : Arithmetic::modulo, *dividend,
                               constant(unassigned.divisor));
  return values_[atom];
}

std::optional<KeyQuery::Term> InverseGuess::known(const Form& form) {
  Term sum = constant(form.constant);
  for (const auto& [atom, coefficient] : form.terms) {
    const auto value = known(atom);
    if (!value) return std::nullopt;
    sum = scaled_sum(sum, coefficient, *value);
  }
  return sum;
}

KeyQuery::Term InverseGuess::scaled_sum(Term a, std::int64_t factor, Term b) {
  return query_.apply(Arithmetic::add, a, query_.apply(Arithmetic::multiply, constant(factor), b));
}

KeyQuery::Term InverseGuess::at_least(Term value, std::int64_t low) {
  return query_.choose(query_.compare(Comparison::less, value, constant(low)), constant(low),
                       value);
}

KeyQuery::Term InverseGuess::at_most(Term value, std::int64_t high) {
  return query_.choose(query_.compare(Comparison::greater, value, constant(high)), constant(high),
                       value);
}

}  // namespace tessera
