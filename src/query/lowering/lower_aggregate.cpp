#include <algorithm>

#include "query/lowering/keyed_plan.h"
#include "query/lowering/lower_operators.h"
#include "query/lowering/projection.h"

namespace tessera::query {

Lowered lower_aggregate(const Aggregate& op, const Schema& schema, const Table& in,
                        Parameters parameters) {
  std::vector<KeyExpr> groups;
  for (const ExpressionPtr& group : op.group_by) {
    const auto of_key = key_expression(*group, in.origins, parameters, in.plan.frontier());
    if (!of_key) return refused("it groups by values, not by keys");
    groups.push_back(*of_key);
  }
  if (groups.empty()) {
    const Plan::Cardinality rows = in.plan.cardinality();
    if (!rows.exact || rows.tuples == 0) return refused("its input may be empty");
  }
  std::vector<ExpressionPtr> arguments;
  std::vector<KernelCall> kernels;
  const ExpressionPtr one = make(Constant{Cell::of(std::int64_t{1})}, {Type::Kind::bigint}, {});
  for (const Fold& fold : op.folds) {
    if (fold.kind == Fold::Kind::first || fold.kind == Fold::Kind::last)
      return refused("it compares texts");
    if (fold.distinct && !(fold.kernel && fold.kernel->properties().idempotent))
      return refused("it aggregates distinct values");
    arguments.push_back(fold.kind == Fold::Kind::count ? one : fold.argument);
    kernels.push_back(fold.kernel ? *fold.kernel : KernelCall("add"));
  }
  if (op.folds.empty()) {
    arguments.push_back(one);
    kernels.emplace_back("maximum");
  }
  // Numbers that are functions of the key are folded as values.
  std::vector<Table::ColumnOrigin> as_values = in.origins;
  ProjectionMaker maker(as_values, parameters, in.plan.frontier());
  Plan plan = in.plan;
  std::vector<ExpressionPtr> payload;
  for (const ExpressionPtr& argument : arguments) payload.push_back(argument);
  if (!maker.admits_as_values(payload)) return refused("an expression contains more than kernels");
  if (const auto why = extras_refused(plan, maker.extras())) return refused(*why);
  Projection projection = maker.make(payload_columns(in.plan));
  // A column for each fold that differs from the others; several may read what is one column.
  std::vector<int> columns, fold_of;
  std::vector<KernelCall> different_kernels;
  for (std::size_t a = 0; a < projection.origins.size(); ++a) {
    const int column = std::get<int>(projection.origins[a]);
    std::size_t fold = 0;
    while (fold < columns.size() &&
           (columns[fold] != column || different_kernels[fold] != kernels[a]))
      ++fold;
    if (fold == columns.size()) {
      columns.push_back(column);
      different_kernels.push_back(kernels[a]);
    }
    fold_of.push_back(static_cast<int>(fold));
  }
  choose(projection.stages, columns);
  plan = projected(plan, maker.extras(), projection.stages);

  // Each component once, in the order of the groups; constants make no groups.
  std::vector<KeyExpr> different;
  for (const KeyExpr& group : groups)
    if (group.arity() > 0 && std::none_of(different.begin(), different.end(),
                                          [&](const KeyExpr& e) { return equal(e, group); }))
      different.push_back(group);
  const auto keyed = with_components(plan, different, false);
  if (!keyed) return refused("a group key may be negative");
  Table result{schema, {}, keyed->plan.aggregate(keyed->components, different_kernels)};
  for (const KeyExpr& group : groups) {
    const auto at = std::find_if(different.begin(), different.end(),
                                 [&](const KeyExpr& e) { return equal(e, group); });
    result.origins.emplace_back(
        at == different.end() ? group : key(static_cast<int>(at - different.begin())));
  }
  for (std::size_t f = 0; f < op.folds.size(); ++f) result.origins.emplace_back(fold_of[f]);
  return {std::move(result)};
}

}  // namespace tessera::query
