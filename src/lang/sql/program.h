#pragma once

#include "lang/sql/ast.h"

namespace tessera::sql {

// What stands between { and } in CREATE TENSOR ... AS: arrays that are made element by element, by
// loops and assignments. Names tell upper from lower case, as those of comprehensions do.

struct Step;
using StepPtr = std::shared_ptr<const Step>;
using Steps = std::vector<StepPtr>;

/// var R[n, m] OF DOUBLE: an array of zeros. var R = e: one that begins as another.
struct Variable {
  std::string name;
  std::vector<ExpressionPtr> extents = {};
  std::optional<DType> element = {};
  ExpressionPtr value = {};
};
/// let n = e: a name for a value.
struct Definition {
  std::string name;
  ExpressionPtr value;
};
/// R[i, j] := e; with an operator before the =, e is added to what is there, or the like.
struct Assignment {
  std::string name;
  std::vector<ExpressionPtr> indices = {};  // none: of a number, or of a whole array
  std::string update = {};  // "+", "-", "*", "/", "min", "max", "and", "or", or none
  ExpressionPtr value;
};
/// for i = 0, n-1, 2 do
struct ForLoop {
  std::string variable;
  ExpressionPtr from, to;  // both included
  ExpressionPtr by = {};   // null: 1
  Steps body;
};
struct WhileLoop {
  ExpressionPtr condition;
  Steps body;
};
struct Branch {
  ExpressionPtr condition;
  Steps yes;
  Steps no = {};
};

struct Step {
  std::variant<Variable, Definition, Assignment, ForLoop, WhileLoop, Branch> node;
  Location location;
};
struct Program {
  Steps steps;
};

/// A step without what is inside of it: "for i = 0, n - 1 do", "R[i] += 1".
std::string head_text(const Step& step);

}  // namespace tessera::sql
