#pragma once

#include "query/binding/bind_expression.h"

namespace tessera::query {

/// The groups of a SELECT and the folds over them, found as its expressions are bound. These read,
/// instead of the rows, the groups: first the values that make a group, then the folds.
class Grouping {
 public:
  /// Arguments of aggregates are bound in the scope of the rows, the rest in that of the groups.
  Grouping(const Scope& rows, const Scope& groups, std::vector<ExpressionPtr> group_by)
      : rows_(rows), groups_(groups), group_by_(std::move(group_by)) {}

  ExpressionPtr bind(const sql::Expression& expression);

  const std::vector<ExpressionPtr>& group_by() const { return group_by_; }
  const std::vector<Fold>& folds() const { return folds_; }
  /// What the rows have to yield, column by column: the values that make groups, and the arguments.
  std::vector<ExpressionPtr> needed() const;
  /// The folds and groups over those columns.
  Aggregate over(const NodePtr& input) const;
  Schema schema(const Schema& rows) const;

 private:
  ExpressionPtr special(const sql::Expression& expression);
  ExpressionPtr aggregate(const sql::Call& call, Location location);
  ExpressionPtr fold(Fold fold, const Type& type, Location location);

  Scope rows_, groups_;
  std::vector<ExpressionPtr> group_by_;
  std::vector<Fold> folds_;
  std::vector<Type> types_;  // of the folds
};

/// Whether an aggregate occurs in it, subqueries aside.
bool has_aggregate(const sql::Expression& expression);
bool has_subquery(const sql::Expression& expression);
std::vector<sql::ExpressionPtr> parts_of(const sql::Expression& expression);

}  // namespace tessera::query
