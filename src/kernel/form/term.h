#pragma once

#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "kernel/form/scalar_function.h"

namespace tessera {

// What one element of a result is, in terms of elements of the arguments: the language that array
// comprehensions, einsum and matrix expressions come down to, for whole tensors and for tiles.

struct TermNode;
/// Immutable, and shared where it stands in several places.
using Term = std::shared_ptr<const TermNode>;

namespace term {

struct Number {
  Scalar value;
};
/// The value of an index, an i64.
struct Position {
  int index;
};
/// An element of an argument, at positions that are terms themselves.
struct Element {
  int argument;
  std::vector<Term> at;
};
struct Applied {
  const ScalarFunction* function;
  std::vector<Term> arguments;
};
struct Cast {
  DType dtype;
  Term value;
};
/// Only the branch that is chosen counts: the other may read outside of an argument.
struct Choice {
  Term condition, yes, no;
};
/// The fold of `value` over all positions of `indices` at which the condition holds. For argmin and
/// argmax: the position, row-major over `indices`, of the first extreme; NaN is one.
struct Fold {
  Monoid monoid;
  std::vector<int> indices;
  Term value;
  Term condition = nullptr;  // null: at all of them
};

}  // namespace term

struct TermNode {
  std::variant<term::Number, term::Position, term::Element, term::Applied, term::Cast, term::Choice,
               term::Fold>
      node;
};

Term number(Scalar value);
Term integer(std::int64_t value);
Term position(int index);
Term element(int argument, std::vector<Term> at);
/// `argument` at these indices.
Term element_at(int argument, const std::vector<int>& indices);
/// InternalError if there is no function of this name for so many arguments.
Term applied(std::string_view function, std::vector<Term> arguments);
Term cast(DType dtype, Term value);
Term choice(Term condition, Term yes, Term no);
Term fold(Monoid monoid, std::vector<int> indices, Term value, Term condition = nullptr);

template <class Node>
const Node* as(const Term& term) {
  return std::get_if<Node>(&term->node);
}

/// The terms that a term is directly made of.
std::vector<Term> parts_of(const Term& term);
/// The same term with other parts, in the order of `parts_of`.
Term with_parts(const Term& term, const std::vector<Term>& parts);
/// Whether they are written alike.
bool same(const Term& a, const Term& b);

/// The indices that it reads and does not fold over.
std::set<int> free_indices(const Term& term);

}  // namespace tessera
