#include <algorithm>

#include "query/lowering/keyed_plan.h"
#include "query/lowering/lower_operators.h"
#include "query/lowering/projection.h"
#include "query/rows/refusal.h"
#include "tra/plan_node.h"

namespace tessera::query {
namespace {

/// Of a join's condition: equalities of a function of the left key and one of the right key, and
/// what else it says.
struct Matching {
  std::vector<KeyExpr> left, right;
  std::vector<ExpressionPtr> others;
};

Matching matching(const Join& op, const Table& left, const Table& right, Parameters parameters) {
  const auto left_columns = left.schema.size();
  Matching result;
  const auto on_side = [&](const ExpressionPtr& expression,
                           bool is_left) -> std::optional<KeyExpr> {
    const auto columns = columns_in(*expression);
    if (columns.empty()) return std::nullopt;
    for (int column : columns)
      if ((std::cmp_less(column, left_columns)) != is_left) return std::nullopt;
    if (is_left) return key_expression(*expression, left.origins, parameters, left.plan.frontier());
    std::vector<int> shifted(left_columns + right.schema.size(), 0);
    for (std::size_t c = 0; c < right.schema.size(); ++c)
      shifted[left_columns + c] = static_cast<int>(c);
    return key_expression(*renumber(expression, shifted), right.origins, parameters,
                          right.plan.frontier());
  };
  const auto is_known = [](const std::vector<KeyExpr>& all, const KeyExpr& one) {
    return std::any_of(all.begin(), all.end(), [&](const KeyExpr& e) { return equal(e, one); });
  };
  for (const ExpressionPtr& condition : conjuncts(op.condition)) {
    const auto* equality = std::get_if<Operation>(&condition->node);
    if (equality != nullptr && equality->op == BinaryOperator::equal) {
      for (const bool swapped : {false, true}) {
        const auto a = on_side(swapped ? equality->right : equality->left, true);
        const auto b = on_side(swapped ? equality->left : equality->right, false);
        if (!a || !b || is_known(result.left, *a) || is_known(result.right, *b)) continue;
        result.left.push_back(*a);
        result.right.push_back(*b);
        equality = nullptr;
        break;
      }
      if (equality == nullptr) continue;
    }
    result.others.push_back(condition);
  }
  return result;
}

/// Where the columns of both sides are in the joined relation.
std::vector<Table::ColumnOrigin> origins_of_both(const Table& left, const Table& right,
                                                 const KeyedPlan& l, const KeyedPlan& r) {
  std::vector<KeyExpr> right_components;
  int next = l.plan.type().arity();
  for (int d = 0; d < r.plan.type().arity(); ++d) {
    const auto at = std::find(r.components.begin(), r.components.end(), d);
    if (at == r.components.end())
      right_components.push_back(key(next++));
    else
      right_components.push_back(
          key(l.components[static_cast<std::size_t>(at - r.components.begin())]));
  }
  std::vector<Table::ColumnOrigin> origins = left.origins;
  for (const Table::ColumnOrigin& origin : right.origins) {
    if (const auto* of_key = std::get_if<KeyExpr>(&origin))
      origins.emplace_back(of_key->substitute(right_components));
    else
      origins.emplace_back(std::get<int>(origin) + payload_columns(left.plan));
  }
  return origins;
}

/// The frontier of the joined relation.
Key frontier_of_both(const KeyedPlan& l, const KeyedPlan& r) {
  Key frontier = l.plan.frontier();
  for (int d = 0; d < r.plan.type().arity(); ++d)
    if (std::find(r.components.begin(), r.components.end(), d) == r.components.end())
      frontier.push_back(r.plan.frontier()[d]);
  return frontier;
}

/// The same table without the components of the key from `first` on that follow from others, and
/// told only what to join: these expressions, at those components.
Table without_added(Table table, int first, const KeyedPlan& keyed,
                    const std::vector<KeyExpr>& expressions) {
  std::vector<KeyExpr> kept, moved;
  for (int d = 0; d < table.plan.type().arity(); ++d) {
    const bool is_added = d >= first && d < first + keyed.added;
    const auto at = std::find(keyed.components.begin(), keyed.components.end(), d);
    moved.push_back(is_added ? expressions[static_cast<std::size_t>(at - keyed.components.begin())]
                             : key(static_cast<int>(kept.size())));
    if (!is_added) kept.push_back(key(d));
  }
  table.plan = table.plan.rekey(KeyFunction(std::move(kept)));
  for (Table::ColumnOrigin& origin : table.origins)
    if (auto* of_key = std::get_if<KeyExpr>(&origin)) origin = of_key->substitute(moved);
  return table;
}

/// What a component of the key is in all tuples, if that is known to be one number: as after a
/// filter that compares it with a constant.
std::optional<std::int64_t> only_value(const Plan& plan, int component) {
  if (plan.frontier()[component] == 1) return 0;
  const auto& pilot = plan.node().pilot;
  if (plan.type().presence != Presence::partial || !pilot || pilot->tuples.empty()) return {};
  const std::int64_t value = pilot->tuples.front().key[component];
  const bool always = std::all_of(pilot->tuples.begin(), pilot->tuples.end(),
                                  [&](const auto& tuple) { return tuple.key[component] == value; });
  return always ? std::optional(value) : std::nullopt;
}

/// The same table without the components of the key that are always the same and that no column
/// shows: joins would add up more and more of them.
Table without_idle_components(Table table) {
  const Key& frontier = table.plan.frontier();
  std::vector<KeyExpr> kept, moved;
  for (int d = 0; std::cmp_less(d, frontier.size()); ++d) {
    const bool shown = std::any_of(table.origins.begin(), table.origins.end(),
                                   [&](const Table::ColumnOrigin& origin) {
                                     const auto* of_key = std::get_if<KeyExpr>(&origin);
                                     return of_key != nullptr && equal(*of_key, key(d));
                                   });
    const auto value = shown ? std::nullopt : only_value(table.plan, d);
    moved.push_back(value ? KeyExpr(*value) : key(static_cast<int>(kept.size())));
    if (!value) kept.push_back(key(d));
  }
  if (kept.size() == frontier.size()) return table;
  table.plan = table.plan.rekey(KeyFunction(std::move(kept)));
  for (Table::ColumnOrigin& origin : table.origins)
    if (auto* of_key = std::get_if<KeyExpr>(&origin)) origin = of_key->substitute(moved);
  return table;
}

}  // namespace

Lowered lower_join(const Join& op, const Schema& schema, const Table& left, const Table& right,
                   Parameters parameters) {
  const Matching on = matching(op, left, right, parameters);
  // A negative number on one side has no equal among the components of a key on the other.
  const auto are_components = [](const std::vector<KeyExpr>& all, const Plan& plan) {
    return std::all_of(all.begin(), all.end(), [&](const KeyExpr& e) {
      return component_of(e, plan.type().arity()).has_value();
    });
  };
  const auto l = with_components(left.plan, on.left, are_components(on.right, right.plan));
  const auto r = with_components(right.plan, on.right, are_components(on.left, left.plan));
  if (!l || !r) return refused("a join key may be negative");

  const std::vector<Table::ColumnOrigin> origins = origins_of_both(left, right, *l, *r);
  const Key frontier = frontier_of_both(*l, *r);
  std::vector<KeyPredicate> predicates;
  for (const ExpressionPtr& condition : on.others) {
    const auto predicate = key_predicate(*condition, origins, parameters, frontier);
    if (!predicate) return refused("the condition reads more than keys");
    predicates.push_back(*predicate);
  }
  ProjectionMaker maker(origins, parameters, frontier);
  if (!maker.admits(op.outputs)) return refused("an expression contains more than kernels");
  const int joined_columns = payload_columns(left.plan) + payload_columns(right.plan);

  Projection projection = maker.make(joined_columns);
  // The first stage is the join's own, unless it reads what only the joined key tells, or refuses
  // values of pairs that the condition leaves out.
  const bool refuses =
      !predicates.empty() && std::any_of(op.outputs.begin(), op.outputs.end(),
                                         [](const ExpressionPtr& e) { return may_refuse(*e); });
  const bool first_in_join = maker.extras().empty() && !projection.stages[0].empty() && !refuses;
  Plan plan = l->plan.join(r->plan, l->components, r->components,
                           first_in_join ? projection.stages[0] : columns_below(joined_columns));
  if (first_in_join) projection.stages.erase(projection.stages.begin());
  if (const auto why = extras_refused(plan, maker.extras())) return refused(*why);
  for (const KeyPredicate& predicate : predicates) plan = plan.filter(predicate);
  plan = projected(plan, maker.extras(), projection.stages);
  Table result{schema, projection.origins, plan};
  if (l->added > 0)
    result = without_added(std::move(result), left.plan.type().arity(), *l, on.left);
  return {without_idle_components(std::move(result))};
}

}  // namespace tessera::query
