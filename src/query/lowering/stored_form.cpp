#include <algorithm>

#include "query/lowering/projection.h"

namespace tessera::query {

/// Columns of integers that are functions of the key become the key. Components that no column
/// shows stay behind them, unless they are always 0: they tell rows apart. What could be negative,
/// or goes too far, becomes a value.
Table stored_form(const Table& table) {
  const int arity = table.plan.type().arity();
  const Key& frontier = table.plan.frontier();
  std::vector<KeyExpr> shown;
  std::vector<bool> is_shown(static_cast<std::size_t>(arity), false);
  for (const Table::ColumnOrigin& origin : table.origins) {
    const auto* of_key = std::get_if<KeyExpr>(&origin);
    if (of_key == nullptr) continue;
    shown.push_back(*of_key);
    for (int d = 0; d < arity; ++d) is_shown[d] = is_shown[d] || equal(*of_key, key(d));
  }
  std::vector<KeyExpr> components = shown;
  for (int d = 0; d < arity; ++d)
    if (!is_shown[d] && frontier[d] != 1) components.push_back(key(d));
  bool same_key = std::cmp_equal(components.size(), arity);
  for (std::size_t d = 0; same_key && d < components.size(); ++d)
    same_key = equal(components[d], key(static_cast<int>(d)));

  Table result = table;
  bool fits = true;
  if (!same_key) {
    try {
      result.plan = table.plan.rekey(KeyFunction(components));
      fits = result.plan.closedness().non_negative.answer == Answer::yes;
    } catch (const TypeError&) {
      fits = false;  // extents whose product is too large
    }
  }
  std::vector<ExpressionPtr> outputs;
  std::vector<int> next;
  for (std::size_t c = 0; c < table.schema.size(); ++c)
    outputs.push_back(column_of(static_cast<int>(c), table.schema[c].type));
  if (!fits) {
    ProjectionMaker maker(table.origins, {}, table.plan.frontier());
    (void)maker.admits_as_values(outputs);
    const Projection projection = maker.make(static_cast<int>(table.plan.type().columns.size()));
    result.plan = projected(table.plan, maker.extras(), projection.stages);
    result.origins = projection.origins;
    return result;
  }
  int component = 0;
  std::vector<Apply> kept;
  for (Table::ColumnOrigin& origin : result.origins) {
    if (std::holds_alternative<KeyExpr>(origin)) {
      origin = key(component++);
    } else {
      kept.push_back(Apply::column(std::get<int>(origin)));
      origin = static_cast<int>(kept.size()) - 1;
    }
  }
  bool all_kept = kept.size() == result.plan.type().columns.size();
  for (std::size_t c = 0; all_kept && c < kept.size(); ++c)
    all_kept = std::cmp_equal(kept[c].columns[0], c);
  if (!all_kept && !kept.empty()) result.plan = result.plan.transform(kept);
  return result;
}

}  // namespace tessera::query
