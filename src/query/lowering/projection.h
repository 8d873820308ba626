#pragma once

#include "query/lowering/key_translation.h"

namespace tessera::query {

/// Expressions over the columns of a relation as kernels: stage by stage, each of which computes
/// columns of those that the one before it has computed. The first stage can be the projection of a
/// join.
struct Projection {
  std::vector<std::vector<Apply>> stages;
  std::vector<Table::ColumnOrigin> origins;  // of the outputs, after the last stage
};

/// What a relation has to have besides its own columns before an expression can be computed.
struct Extra {
  ExpressionPtr expression;       // a constant, or a function of the key
  std::optional<KeyExpr> of_key;  // the latter, as such
};

/// Makes the kernels for expressions over columns of these origins, of which payload columns number
/// `payload`. Columns of the extras follow them. None if only rows can tell.
class ProjectionMaker {
 public:
  /// `frontier`: that of the keys which functions of the key are to have values at.
  ProjectionMaker(const std::vector<Table::ColumnOrigin>& origins, Parameters parameters,
                  Key frontier)
      : origins_(origins), parameters_(parameters), frontier_(std::move(frontier)) {}

  /// Whether all outputs can be computed so. Collects the extras.
  bool admits(const std::vector<ExpressionPtr>& outputs);
  /// The same, functions of the key becoming values too.
  bool admits_as_values(const std::vector<ExpressionPtr>& outputs);
  const std::vector<Extra>& extras() const { return extras_; }
  /// `first_extra`: the payload column where they begin; those before it are as they were.
  Projection make(int first_extra) const;

 private:
  bool admit(const ExpressionPtr& expression);
  /// The payload column that an expression is before any kernel runs; none if kernels compute it.
  std::optional<int> column(const Expression& expression, int first_extra) const;
  int level(const ExpressionPtr& expression) const;

  const std::vector<Table::ColumnOrigin>& origins_;
  Parameters parameters_;
  Key frontier_;
  std::vector<ExpressionPtr> outputs_;  // parameters replaced
  std::vector<bool> is_key_;            // whether an output stays a function of the key
  std::vector<Extra> extras_;
};

/// The expression with the indices of the version put in.
ExpressionPtr with_parameters(const ExpressionPtr& expression, Parameters parameters);

/// The plan with its payload made by the stages, the first of which reads the extras after the
/// plan's own columns. Without a stage it stays as it is, and so it does of one that changes
/// nothing.
Plan projected(const Plan& plan, const std::vector<Extra>& extras,
               const std::vector<std::vector<Apply>>& stages);
/// Why that cannot be, or not in time; none: it can. A function of the key is listed for all keys
/// below the extents, so that they must be known, and not be far more than there are tuples.
std::optional<std::string> extras_refused(const Plan& plan, const std::vector<Extra>& extras);

/// These columns of a plan as they are.
std::vector<Apply> columns_below(int count);

/// Makes stages end with these of their columns, in this order. One may be wanted twice; its kernel
/// runs once.
void choose(std::vector<std::vector<Apply>>& stages, const std::vector<int>& columns);

int payload_columns(const Plan& plan);

}  // namespace tessera::query
