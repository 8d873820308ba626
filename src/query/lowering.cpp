#include "query/lowering.h"

#include <algorithm>

#include "query/projection.h"

namespace tessera::query {
namespace {

Lowered refused(std::string reason) { return {std::nullopt, std::move(reason)}; }

std::vector<Apply> identities(int columns) {
  std::vector<Apply> all;
  for (int c = 0; c < columns; ++c) all.emplace_back(KernelCall("identity"), std::vector<int>{c});
  return all;
}

/// All components of a key, and then others.
KeyFunction key_and(int arity, const std::vector<KeyExpr>& others) {
  std::vector<KeyExpr> components;
  for (int d = 0; d < arity; ++d) components.push_back(key(d));
  components.insert(components.end(), others.begin(), others.end());
  return KeyFunction(std::move(components));
}

/// The component that an expression is, if it is just one.
std::optional<int> component_of(const KeyExpr& expression, int arity) {
  for (int d = 0; d < arity; ++d)
    if (equal(expression, key(d))) return d;
  return std::nullopt;
}

/// A plan whose key has a component for each of these expressions, and which they are.
struct Keyed {
  Plan plan;
  std::vector<int> components;
  int added = 0;  // components at the end of the key
};

/// None if a component might be negative, unless rows where it is can be left out.
std::optional<Keyed> with_components(const Plan& plan, const std::vector<KeyExpr>& expressions,
                                     bool leave_out_negative) {
  Keyed result{plan, {}, 0};
  const int arity = plan.type().arity();
  std::vector<KeyExpr> others;
  KeyPredicate not_negative = KeyPredicate::always();
  for (const KeyExpr& expression : expressions) {
    const auto component = component_of(expression, arity);
    result.components.push_back(component ? *component : arity + static_cast<int>(others.size()));
    if (component) continue;
    others.push_back(expression);
    not_negative = not_negative && expression >= 0;
  }
  result.added = static_cast<int>(others.size());
  if (result.added == 0) return result;
  const auto is_fit = [](const Plan& rekeyed) {
    return rekeyed.closedness().non_negative.answer == Answer::yes;
  };
  result.plan = plan.rekey(key_and(arity, others));
  if (is_fit(result.plan)) return result;
  result.plan = plan.filter(not_negative).rekey(key_and(arity, others));
  if (leave_out_negative && is_fit(result.plan)) return result;
  return std::nullopt;
}

bool has_unknown_extent(const Plan& plan) {
  return std::find(plan.frontier().begin(), plan.frontier().end(), unknown_extent) !=
         plan.frontier().end();
}

Plan staged(Plan plan, const std::vector<std::vector<Apply>>& stages, std::size_t first) {
  for (std::size_t s = first; s < stages.size(); ++s) plan = plan.transform(stages[s]);
  return plan;
}

int payload_columns(const Plan& plan) { return static_cast<int>(plan.type().columns.size()); }

bool is_plain(const Projection& projection, int columns) {
  return projection.stages.size() == 1 &&
         std::all_of(projection.stages[0].begin(), projection.stages[0].end(),
                     [](const Apply& apply) { return apply.kernel == KernelCall("identity"); }) &&
         columns >= 0;
}

/// The same table without the components of the key that are always 0 and that no column shows:
/// joins would add up more and more of them.
Table without_idle_components(Table table) {
  const Key& frontier = table.plan.frontier();
  std::vector<KeyExpr> kept, moved;
  for (int d = 0; std::cmp_less(d, frontier.size()); ++d) {
    const bool shown =
        std::any_of(table.places.begin(), table.places.end(), [&](const Table::Where& place) {
          const auto* of_key = std::get_if<KeyExpr>(&place);
          return of_key != nullptr && equal(*of_key, key(d));
        });
    const bool idle = frontier[d] == 1 && !shown;
    moved.push_back(idle ? KeyExpr(0) : key(static_cast<int>(kept.size())));
    if (!idle) kept.push_back(key(d));
  }
  if (kept.size() == frontier.size()) return table;
  table.plan = table.plan.rekey(KeyFunction(std::move(kept)));
  for (Table::Where& place : table.places)
    if (auto* of_key = std::get_if<KeyExpr>(&place)) place = of_key->substitute(moved);
  return table;
}

struct Lower {
  const Node& node;
  const std::vector<Table>& inputs;
  Parameters parameters;

  Lowered operator()(const Scan&) const { return {inputs.at(0)}; }
  Lowered operator()(const ConstantRows&) const { return refused("they are written row by row"); }

  Lowered operator()(const Filter& op) const {
    const Table& in = inputs[0];
    const auto predicate = key_predicate(*op.condition, in.places, parameters);
    if (!predicate) return refused("the condition is not about keys alone");
    return {Table{node.schema, in.places, in.plan.filter(*predicate)}};
  }

  Lowered operator()(const Project& op) const {
    const Table& in = inputs[0];
    ProjectionMaker maker(in.places, parameters);
    if (!maker.admits(op.outputs)) return refused("an expression is not made of kernels alone");
    if (!maker.extras().empty() && has_unknown_extent(in.plan))
      return refused("nobody knows how far the keys go");
    const Plan plan = with_extras(in.plan, maker.extras());
    Projection projection = maker.make(payload_columns(in.plan));
    if (!is_plain(projection, payload_columns(plan)))
      return {Table{node.schema, projection.places, staged(plan, projection.stages, 0)}};
    // Columns that are only chosen stay where they are.
    for (Table::Where& place : projection.places)
      if (auto* column = std::get_if<int>(&place))
        *column = projection.stages[0][*column].columns[0];
    return {Table{node.schema, projection.places, plan}};
  }

  Lowered operator()(const Join& op) const;
  Lowered operator()(const Aggregate& op) const;

  Lowered operator()(const UnionAll&) const { return refused("it is a union"); }
  Lowered operator()(const Distinct&) const { return refused("rows are compared as a whole"); }
  Lowered operator()(const Sort&) const { return refused("rows have an order"); }
  Lowered operator()(const Limit&) const { return refused("rows are counted"); }
  Lowered operator()(const OnlyRow&) const {
    const Plan::Cardinality rows = inputs[0].plan.cardinality();
    if (!rows.exact || rows.tuples != 1) return refused("its rows have to be counted");
    return {Table{node.schema, inputs[0].places, inputs[0].plan}};
  }
};

Lowered Lower::operator()(const Join& op) const {
  const Table &left = inputs[0], &right = inputs[1];
  const int left_arity = left.plan.type().arity();
  const auto left_columns = left.schema.size();

  // Of the condition: equalities of a function of the left key and one of the right key.
  std::vector<KeyExpr> left_on, right_on;
  std::vector<ExpressionPtr> others;
  const auto on_side = [&](const ExpressionPtr& expression,
                           bool is_left) -> std::optional<KeyExpr> {
    const auto columns = columns_in(*expression);
    if (columns.empty()) return std::nullopt;
    for (int column : columns)
      if ((std::cmp_less(column, left_columns)) != is_left) return std::nullopt;
    if (is_left) return key_expression(*expression, left.places, parameters);
    std::vector<int> shifted(left_columns + right.schema.size(), 0);
    for (std::size_t c = 0; c < right.schema.size(); ++c)
      shifted[left_columns + c] = static_cast<int>(c);
    return key_expression(*renumber(expression, shifted), right.places, parameters);
  };
  for (const ExpressionPtr& condition : conjuncts(op.condition)) {
    const auto* equality = std::get_if<Operation>(&condition->node);
    if (equality != nullptr && equality->op == BinaryOperator::equal) {
      for (const bool swapped : {false, true}) {
        const auto a = on_side(swapped ? equality->right : equality->left, true);
        const auto b = on_side(swapped ? equality->left : equality->right, false);
        const bool fresh = a && b &&
                           std::none_of(left_on.begin(), left_on.end(),
                                        [&](const KeyExpr& e) { return equal(e, *a); }) &&
                           std::none_of(right_on.begin(), right_on.end(),
                                        [&](const KeyExpr& e) { return equal(e, *b); });
        if (!fresh) continue;
        left_on.push_back(*a);
        right_on.push_back(*b);
        equality = nullptr;
        break;
      }
      if (equality == nullptr) continue;
    }
    others.push_back(condition);
  }

  // A negative number on one side has no equal among the components of a key on the other.
  const auto are_components = [](const std::vector<KeyExpr>& all, const Plan& plan) {
    return std::all_of(all.begin(), all.end(), [&](const KeyExpr& e) {
      return component_of(e, plan.type().arity()).has_value();
    });
  };
  const auto keyed_left = with_components(left.plan, left_on, are_components(right_on, right.plan));
  const auto keyed_right =
      with_components(right.plan, right_on, are_components(left_on, left.plan));
  if (!keyed_left || !keyed_right) return refused("what is compared may be negative");
  const Keyed &l = *keyed_left, &r = *keyed_right;

  // Where the columns of both sides are in the joined relation.
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
  std::vector<Table::Where> places = left.places;
  for (const Table::Where& place : right.places) {
    if (const auto* of_key = std::get_if<KeyExpr>(&place))
      places.emplace_back(of_key->substitute(right_components));
    else
      places.emplace_back(std::get<int>(place) + payload_columns(left.plan));
  }
  std::vector<KeyPredicate> predicates;
  for (const ExpressionPtr& condition : others) {
    const auto predicate = key_predicate(*condition, places, parameters);
    if (!predicate) return refused("the condition is not about keys alone");
    predicates.push_back(*predicate);
  }
  ProjectionMaker maker(places, parameters);
  if (!maker.admits(op.outputs)) return refused("an expression is not made of kernels alone");
  const int joined_columns = payload_columns(left.plan) + payload_columns(right.plan);

  Projection projection = maker.make(joined_columns);
  // The first stage is the join's own, unless it reads what only the joined key tells.
  const bool first_in_join = maker.extras().empty() && !projection.stages[0].empty();
  Plan plan = l.plan.join(r.plan, l.components, r.components,
                          first_in_join ? projection.stages[0] : identities(joined_columns));
  if (!maker.extras().empty() && has_unknown_extent(plan))
    return refused("nobody knows how far the keys go");
  if (!first_in_join) plan = with_extras(plan, maker.extras());
  for (const KeyPredicate& predicate : predicates) plan = plan.filter(predicate);
  if (first_in_join || !projection.stages[0].empty())
    plan = staged(plan, projection.stages, first_in_join ? 1 : 0);
  if (l.added > 0) {
    // Components that follow from others told only what to join.
    std::vector<KeyExpr> kept, moved;
    for (int d = 0; d < plan.type().arity(); ++d) {
      const bool is_added = d >= left_arity && d < left_arity + l.added;
      moved.push_back(
          is_added
              ? left_on[static_cast<std::size_t>(
                    std::find(l.components.begin(), l.components.end(), d) - l.components.begin())]
              : key(static_cast<int>(kept.size())));
      if (!is_added) kept.push_back(key(d));
    }
    plan = plan.rekey(KeyFunction(std::move(kept)));
    for (Table::Where& place : projection.places)
      if (auto* of_key = std::get_if<KeyExpr>(&place)) place = of_key->substitute(moved);
  }
  return {without_idle_components({node.schema, projection.places, plan})};
}

Lowered Lower::operator()(const Aggregate& op) const {
  const Table& in = inputs[0];
  std::vector<KeyExpr> groups;
  for (const ExpressionPtr& group : op.group_by) {
    const auto of_key = key_expression(*group, in.places, parameters);
    if (!of_key) return refused("groups are made of values, not of keys");
    groups.push_back(*of_key);
  }
  if (groups.empty()) {
    const Plan::Cardinality rows = in.plan.cardinality();
    if (!rows.exact || rows.tuples == 0) return refused("there may be no rows at all");
  }
  std::vector<ExpressionPtr> arguments;
  std::vector<KernelCall> kernels;
  const ExpressionPtr one = make(Constant{Cell::of(std::int64_t{1})}, {Type::Kind::bigint}, {});
  for (const Fold& fold : op.folds) {
    if (fold.kind == Fold::Kind::first || fold.kind == Fold::Kind::last)
      return refused("texts are compared");
    if (fold.distinct && !(fold.kernel && fold.kernel->properties().idempotent))
      return refused("equal values count once");
    arguments.push_back(fold.kind == Fold::Kind::count ? one : fold.argument);
    kernels.push_back(fold.kernel ? *fold.kernel : KernelCall("add"));
  }
  if (op.folds.empty()) {
    arguments.push_back(one);
    kernels.emplace_back("maximum");
  }
  // Numbers that are functions of the key are folded as values.
  std::vector<Table::Where> as_values = in.places;
  ProjectionMaker maker(as_values, parameters);
  Plan plan = in.plan;
  std::vector<ExpressionPtr> payload;
  for (const ExpressionPtr& argument : arguments) payload.push_back(argument);
  if (!maker.admits_as_values(payload))
    return refused("an expression is not made of kernels alone");
  if (!maker.extras().empty() && has_unknown_extent(plan))
    return refused("nobody knows how far the keys go");
  plan = with_extras(plan, maker.extras());
  const Projection projection = maker.make(payload_columns(in.plan));
  // A fold for each argument, though several may read one column.
  std::vector<Apply> columns;
  plan = staged(plan, projection.stages, 0);
  bool in_order = projection.places.size() == plan.type().columns.size();
  for (std::size_t a = 0; a < projection.places.size(); ++a) {
    const int column = std::get<int>(projection.places[a]);
    in_order = in_order && std::cmp_equal(column, a);
    columns.emplace_back(KernelCall("identity"), std::vector<int>{column});
  }
  if (!in_order) plan = plan.transform(columns);

  // Each component once, in the order of the groups; constants make no groups.
  std::vector<KeyExpr> different;
  for (const KeyExpr& group : groups)
    if (group.arity() > 0 && std::none_of(different.begin(), different.end(),
                                          [&](const KeyExpr& e) { return equal(e, group); }))
      different.push_back(group);
  const auto keyed = with_components(plan, different, false);
  if (!keyed) return refused("what makes a group may be negative");
  Table result{node.schema, {}, keyed->plan.aggregate(keyed->components, kernels)};
  for (const KeyExpr& group : groups) {
    const auto at = std::find_if(different.begin(), different.end(),
                                 [&](const KeyExpr& e) { return equal(e, group); });
    result.places.emplace_back(
        at == different.end() ? group : key(static_cast<int>(at - different.begin())));
  }
  for (std::size_t f = 0; f < op.folds.size(); ++f) result.places.emplace_back(static_cast<int>(f));
  return {std::move(result)};
}

}  // namespace

Lowered lower(const Node& node, const std::vector<Table>& inputs, Parameters parameters) {
  // What cannot be planned as a whole is still defined row by row.
  try {
    return std::visit(Lower{node, inputs, parameters}, node.op);
  } catch (const TypeError& error) {
    return refused(error.what());
  } catch (const PlanError& error) {
    return refused(error.what());
  }
}

}  // namespace tessera::query
