#pragma once

#include <functional>

#include "kernel/registry.h"
#include "query/binding/binder.h"

namespace tessera::query {

/// What the names in an expression can mean, and what is done with the parts that only a query
/// understands.
struct Scope {
  const Schema* columns = nullptr;
  const std::vector<std::string>* parameters = nullptr;
  /// Tried first on every part of an expression: a group's value or a fold of it, say.
  std::function<ExpressionPtr(const sql::Expression&)> special = {};
  /// A subquery that stands for a value; unset where there can be none.
  std::function<ExpressionPtr(const sql::ScalarSubquery&, Location)> subquery = {};
  /// Where there can be no aggregate, why.
  std::string no_aggregates = "aggregate functions are not allowed here";
};

ExpressionPtr bind(const sql::Expression& expression, const Scope& scope);
/// A condition: BOOLEAN, or an error.
ExpressionPtr bind_condition(const sql::Expression& expression, const Scope& scope,
                             std::string_view clause);

bool is_null(const Expression& expression);  // NULL itself, not a column that may hold it
ExpressionPtr bind_operation(BinaryOperator op, const ExpressionPtr& left,
                             const ExpressionPtr& right, Location location);
/// A call of a function: a kernel by its name or a synonym.
ExpressionPtr bind_call(const sql::Call& call, const Scope& scope, Location location);

/// The kernel that a function's name means, whatever its case and underscores; null if none does.
std::optional<KernelBinding> kernel_named(const std::string& name);
/// The same; ErrorAt with the names that are like it if there is none.
KernelBinding function_named(const std::string& name, Location location);
/// The aggregate that a call is, if it is one: SUM(x), or an associative kernel of one argument.
std::optional<Fold::Kind> aggregate_kind(const sql::Call& call);

/// One type for several values, each of which is cast to it; TypeError if there is none.
Type common_type(const std::vector<ExpressionPtr>& values, Location location,
                 std::string_view what);

/// A value that is known: an expression of constants is replaced by what it yields.
ExpressionPtr folded(const ExpressionPtr& expression);

}  // namespace tessera::query
