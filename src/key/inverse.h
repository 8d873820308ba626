#pragma once

#include <optional>
#include <vector>

#include "key/linear.h"
#include "key/solver.h"

namespace tessera {

/// A guess at an inverse of a key function: a point, in terms of a key, that should satisfy the
/// conditions and be mapped to that key. A guess that proves right for all keys below the frontier
/// shows that none is missing, without a quantifier that Z3 would have to reason about; a key for
/// which it fails is one to suspect.
///
/// Sums are taken apart greedily, as in positional notation: of a*x + b*y = v with a > b, x is
/// v div a, but at most its greatest value, and y is what remains. Quotients and remainders of the
/// same number are its digits, put together again by adding them up: i = 4 * (i div 4) + i mod 4.
class InverseGuess {
 public:
  /// Components that nothing is said about are taken from the example.
  InverseGuess(KeyQuery& query, LinearForms& forms, const Key& example);

  /// The form has this value.
  void equate(const LinearForms::Form& form, KeyQuery::Term value);
  /// The form is zero, or is not negative: a condition of the domain.
  void require_zero(const LinearForms::Form& form) { zeros_.push_back(form); }
  void require_not_negative(const LinearForms::Form& form) { not_negative_.push_back(form); }

  KeyQuery::Point point();

 private:
  using Form = LinearForms::Form;
  using Term = KeyQuery::Term;

  /// A number of which only digits are known yet.
  struct Digits {
    Form number;
    Term sum;
    std::optional<std::int64_t> modulus;  // if a single remainder is all that is known
    bool resolved = false;
  };

  bool advance();
  bool equate_where_one_is_open(std::vector<Form>& forms, bool clamp);
  bool resolve_digits();
  void solve(const Form& form, Term value, bool clamp);
  void assign(int atom, Term value);
  void add_digit(const Form& number, Term value, std::optional<std::int64_t> modulus);

  std::vector<LinearForms::Term> open_terms(const Form& form);
  std::optional<Term> known(int atom);
  std::optional<Term> known(const Form& form);
  bool is_positional(const std::vector<LinearForms::Term>& terms, std::size_t index) const;

  Term constant(std::int64_t value) { return query_.constant(value); }
  Term scaled_sum(Term a, std::int64_t factor, Term b);
  Term at_least(Term value, std::int64_t low);
  Term at_most(Term value, std::int64_t high);

  KeyQuery& query_;
  LinearForms& forms_;
  Key example_;
  std::vector<std::optional<Term>> values_;  // by atom
  std::vector<Digits> digits_;
  std::vector<Form> zeros_, not_negative_;
};

}  // namespace tessera
