#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "query/rows/cell.h"
#include "tessera/kernel.h"

// Expressions whose names are resolved and whose types are known. They read the row of whatever
// operator they belong to, by position.

namespace tessera::query {

using lang::Location;
using sql::BinaryOperator;

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

struct ColumnOf {
  int column;
};
struct Constant {
  Cell value;
};
/// An index of the version of a table that is being computed: `i` in t[i:1...].
struct Parameter {
  int index;
};
/// An operator on numbers, truth values or tensors, with the kernel that computes it. A constant
/// operand is a parameter of the kernel rather than an argument, so that it takes the dtype of the
/// other one, as in NumPy.
struct Operation {
  BinaryOperator op;
  ExpressionPtr left, right;
  KernelCall kernel;
};
/// The operands that are arguments of the kernel.
std::vector<ExpressionPtr> arguments_of(const Operation& operation);

/// `//` and `%` of integers, which round towards minus infinity, as in Python.
struct IntegerDivision {
  BinaryOperator op;
  ExpressionPtr left, right;
};
struct Negation {
  ExpressionPtr operand;  // NOT
};
struct KernelOf {
  KernelCall kernel;
  std::vector<ExpressionPtr> arguments;
  int output = 0;  // of a kernel that has several
};
struct TextComparison {
  BinaryOperator op;
  ExpressionPtr left, right;
};
struct CaseOf {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> branches;
  ExpressionPtr otherwise;
};
struct NullTest {
  ExpressionPtr operand;
  bool negated;
};
struct Coalesce {
  std::vector<ExpressionPtr> arguments;
};
/// To or from a text; numbers and tensors are cast by a kernel.
struct TextCast {
  ExpressionPtr operand;
};

struct Expression {
  std::variant<ColumnOf, Constant, Parameter, Operation, IntegerDivision, Negation, KernelOf,
               TextComparison, CaseOf, NullTest, Coalesce, TextCast>
      node;
  Type type;
  Location location = {};
};

ExpressionPtr make(decltype(Expression::node) node, const Type& type, Location location);
ExpressionPtr column_of(int column, const Type& type, Location location = {});

using Parameters = std::span<const std::int64_t>;

/// The value for a row, by definition: what every other way to compute it is held to.
Cell evaluate(const Expression& expression, const Row& row, Parameters parameters);

/// The operands of a node, in order.
std::vector<ExpressionPtr> operands_of(const Expression& expression);
/// The same node over other operands.
ExpressionPtr with_operands(const Expression& expression, std::vector<ExpressionPtr> operands);
/// The same node with the columns it reads renumbered.
ExpressionPtr renumber(const ExpressionPtr& expression, const std::vector<int>& columns);
/// The columns that are read, ascending.
std::vector<int> columns_in(const Expression& expression);
bool same(const Expression& a, const Expression& b);  // the same tree, wherever it was written
bool is_constant(const Expression& expression);       // without columns and parameters

/// The conjuncts of a condition; none of it is null.
std::vector<ExpressionPtr> conjuncts(const ExpressionPtr& condition);
ExpressionPtr all_of(const std::vector<ExpressionPtr>& conditions);  // null if there are none

/// As SQL would write it, with the names of the columns.
std::string to_string(const Expression& expression, const Schema& columns);

}  // namespace tessera::query
