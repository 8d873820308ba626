#include "query/binding/join_tree.h"

#include <algorithm>
#include <map>
#include <set>

#include "query/rows/refusal.h"

namespace tessera::query {
namespace {

/// A part of the tree: a node, and the expression over all sources' columns that each of its
/// columns is.
struct JoinInput {
  NodePtr node;
  std::set<int> columns;  // of the sources it covers
  std::vector<ExpressionPtr> terms;
};

bool covers(const std::set<int>& columns, const Expression& expression) {
  const std::vector<int> needed = columns_in(expression);
  return std::all_of(needed.begin(), needed.end(), [&](int c) { return columns.contains(c); });
}

/// The expression over the columns of a node that computes these terms.
ExpressionPtr over(const std::vector<ExpressionPtr>& terms, const ExpressionPtr& expression) {
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (same(*terms[i], *expression))
      return column_of(static_cast<int>(i), expression->type, expression->location);
  std::vector<ExpressionPtr> operands = operands_of(*expression);
  if (operands.empty()) return expression;
  for (ExpressionPtr& operand : operands) operand = over(terms, operand);
  return with_operands(*expression, std::move(operands));
}

/// The largest parts of an expression that can be computed where these columns are, and whatever
/// rows the join leaves out.
void collect_terms(const ExpressionPtr& expression, const std::set<int>& columns,
                   std::vector<ExpressionPtr>& into) {
  if (columns_in(*expression).empty()) return;  // constants are computed where they are used
  if (!covers(columns, *expression) || may_refuse_cheaply(*expression)) {
    for (const ExpressionPtr& operand : operands_of(*expression))
      collect_terms(operand, columns, into);
    return;
  }
  const bool known = std::any_of(into.begin(), into.end(), [&](const ExpressionPtr& term) {
    return same(*term, *expression);
  });
  if (!known) into.push_back(expression);
}

Schema schema_of(const std::vector<ExpressionPtr>& terms, const Schema& all) {
  Schema schema;
  for (const ExpressionPtr& term : terms) {
    const auto* column = std::get_if<ColumnOf>(&term->node);
    schema.push_back(column != nullptr ? all[column->column]
                                       : Column{to_string(*term, all), term->type});
  }
  return schema;
}

bool is_equality(const Expression& condition) {
  if (const auto* op = std::get_if<Operation>(&condition.node))
    return op->op == BinaryOperator::equal;
  const auto* op = std::get_if<TextComparison>(&condition.node);
  return op != nullptr && op->op == BinaryOperator::equal;
}

class Builder {
 public:
  Builder(std::vector<ExpressionPtr> conditions, const std::vector<ExpressionPtr>& outputs,
          Schema all)
      : conditions_(std::move(conditions)), outputs_(outputs), all_(std::move(all)) {}

  /// Those of the conditions that can be decided there, which are then done with.
  std::vector<ExpressionPtr> take(const std::set<int>& columns) {
    const auto later = std::stable_partition(
        conditions_.begin(), conditions_.end(),
        [&](const ExpressionPtr& condition) { return !covers(columns, *condition); });
    std::vector<ExpressionPtr> taken(later, conditions_.end());
    conditions_.erase(later, conditions_.end());
    return taken;
  }

  std::vector<ExpressionPtr> terms_for(const std::set<int>& columns) const {
    std::vector<ExpressionPtr> terms;
    for (const ExpressionPtr& output : outputs_) collect_terms(output, columns, terms);
    for (const ExpressionPtr& condition : conditions_) collect_terms(condition, columns, terms);
    return terms;
  }

  /// The two parts that are to be joined next: those that most equalities connect, as each leaves
  /// fewer rows; else those that some other condition connects; else the first two, of which every
  /// pair of rows is one. Of several such pairs the first.
  std::pair<int, int> next_pair(const std::vector<JoinInput>& parts) const {
    std::vector<int> part_of(all_.size());
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (int column : parts[p].columns) part_of[column] = static_cast<int>(p);
    const auto touched = [&](const Expression& expression) {
      std::set<int> which;
      for (int column : columns_in(expression)) which.insert(part_of[column]);
      return which;
    };
    struct Connection {
      int equalities = 0, others = 0;
      auto operator<=>(const Connection&) const = default;
    };
    std::map<std::pair<int, int>, Connection> connections;
    for (const ExpressionPtr& condition : conditions_) {
      const std::set<int> both = touched(*condition);
      if (both.size() != 2) continue;
      Connection& connection = connections[{*both.begin(), *both.rbegin()}];
      const std::vector<ExpressionPtr> sides = operands_of(*condition);
      const bool one_of_each =
          std::all_of(sides.begin(), sides.end(),
                      [&](const ExpressionPtr& side) { return touched(*side).size() == 1; });
      ++(is_equality(*condition) && one_of_each ? connection.equalities : connection.others);
    }
    std::pair<int, int> best{0, 1};
    Connection most;
    for (const auto& [pair, connection] : connections)
      if (connection > most) {
        best = pair;
        most = connection;
      }
    return best;
  }

  JoinInput source(const NodePtr& node, int first) {
    JoinInput part{node, {}, {}};
    for (std::size_t i = 0; i < node->schema.size(); ++i) {
      part.columns.insert(first + static_cast<int>(i));
      part.terms.push_back(column_of(first + static_cast<int>(i), node->schema[i].type));
    }
    if (const auto condition = all_of(take(part.columns)))
      part.node = make_node(Filter{node, over(part.terms, condition)}, node->schema);
    return part;
  }

  /// Only what is wanted of a part later on is kept, kernels computed.
  JoinInput narrowed(JoinInput part) const {
    const std::vector<ExpressionPtr> terms = terms_for(part.columns);
    const bool computes = std::any_of(terms.begin(), terms.end(), [](const ExpressionPtr& term) {
      return !std::holds_alternative<ColumnOf>(term->node);
    });
    if (!computes && terms.size() == part.terms.size()) return part;
    return projected(part, terms, schema_of(terms, all_));
  }

  JoinInput projected(const JoinInput& part, const std::vector<ExpressionPtr>& terms,
                      const Schema& schema) const {
    std::vector<ExpressionPtr> outputs;
    for (const ExpressionPtr& term : terms) outputs.push_back(over(part.terms, term));
    return {make_node(Project{part.node, outputs}, schema), part.columns, terms};
  }

  JoinInput joined(const JoinInput& left, const JoinInput& right, const Schema* last) {
    JoinInput both{nullptr, left.columns, {}};
    both.columns.insert(right.columns.begin(), right.columns.end());
    std::vector<ExpressionPtr> terms = left.terms;
    terms.insert(terms.end(), right.terms.begin(), right.terms.end());
    ExpressionPtr condition = all_of(take(both.columns));
    if (condition) condition = over(terms, condition);
    both.terms = last != nullptr ? outputs_ : terms_for(both.columns);
    std::vector<ExpressionPtr> outputs;
    for (const ExpressionPtr& term : both.terms) outputs.push_back(over(terms, term));
    both.node = make_node(Join{left.node, right.node, condition, outputs},
                          last != nullptr ? *last : schema_of(both.terms, all_));
    return both;
  }

 private:
  std::vector<ExpressionPtr> conditions_;
  const std::vector<ExpressionPtr>& outputs_;
  Schema all_;
};

}  // namespace

NodePtr join_tree(const std::vector<NodePtr>& sources, std::vector<ExpressionPtr> conditions,
                  const std::vector<ExpressionPtr>& outputs, const Schema& schema) {
  Schema all;
  for (const NodePtr& source : sources)
    all.insert(all.end(), source->schema.begin(), source->schema.end());
  Builder builder(std::move(conditions), outputs, all);
  std::vector<JoinInput> parts;
  int first = 0;
  for (const NodePtr& source : sources) {
    parts.push_back(builder.source(source, first));
    first += static_cast<int>(source->schema.size());
  }
  if (parts.size() == 1) return builder.projected(parts[0], outputs, schema).node;
  for (JoinInput& part : parts) part = builder.narrowed(std::move(part));
  while (parts.size() > 1) {
    const auto [left, right] = builder.next_pair(parts);
    parts[left] = builder.joined(parts[left], parts[right], parts.size() == 2 ? &schema : nullptr);
    parts.erase(parts.begin() + right);
  }
  return parts[0].node;
}

}  // namespace tessera::query
