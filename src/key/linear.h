#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "key/expression.h"
#include "key/interval.h"

namespace tessera {

/// Expressions over the points within some bounds as sums of multiples of atoms: components,
/// quotients and remainders by positive constants. Forms are simplified as they are made:
///
///   (c*a + b) div c = a + b div c          (c*a + b) mod c = b mod c
///   b div c = 0 and b mod c = b, if 0 <= b < c
///   (a div c) div d = a div (c*d)
///
/// so that a tiling undone is seen to be the identity: (4*i + j) div 4 is i if j is below 4.
class LinearForms {
 public:
  struct Term {
    int atom;
    std::int64_t coefficient;
    friend bool operator==(const Term&, const Term&) = default;
  };
  /// Terms by ascending atom, none with the coefficient 0.
  struct Form {
    std::vector<Term> terms;
    std::int64_t constant = 0;
    friend bool operator==(const Form&, const Form&) = default;
  };
  enum class AtomKind { component, quotient, remainder };
  struct Atom {
    AtomKind kind;
    int component;         // of a component
    Form dividend;         // of a quotient or a remainder; made of earlier atoms only
    std::int64_t divisor;  // likewise
    Interval range;
  };

  explicit LinearForms(const Bounds& bounds);

  /// Nothing for an expression that is not linear, or too large for 64 bits on the way.
  std::optional<Form> form_of(const KeyExpr& expr);
  /// a + factor*b
  static std::optional<Form> combine(const Form& a, std::int64_t factor, const Form& b);
  std::optional<Form> quotient(const Form& dividend, std::int64_t divisor);
  std::optional<Form> remainder(const Form& dividend, std::int64_t divisor);
  std::optional<Interval> range(const Form& form) const;

  /// The atoms so far; those of the components come first, in order.
  const std::vector<Atom>& atoms() const { return atoms_; }

 private:
  Form component_form(int component) const;
  std::optional<Form> operation(const KeyExpr::Node::Operation& operation);
  std::optional<Form> divide(Arithmetic op, const Form& dividend, std::int64_t divisor);
  std::optional<Form> divided(AtomKind kind, const Form& dividend, std::int64_t divisor);

  std::vector<Atom> atoms_;
  std::unordered_map<const KeyExpr::Node*, std::optional<Form>> forms_;
};

/// Whether the values of the forms at a point within the bounds determine the point, that is, no
/// two points agree in all of them. False also where it is not seen.
bool determine_the_point(LinearForms& forms, const std::vector<LinearForms::Form>& values);

/// Whether no component has a part in two of the forms, so that their values can be chosen freely.
bool are_independent(const LinearForms& forms, const std::vector<LinearForms::Form>& values);

/// The values that a form takes at the points within the bounds, if they are seen to be all the
/// integers of an interval.
std::optional<Interval> contiguous_values(const LinearForms& forms, const LinearForms::Form& form);

}  // namespace tessera
