#include "query/versions/version_rule.h"

#include <algorithm>

#include "base/check.h"
#include "key/solver.h"
#include "lang/sql/printer.h"
#include "query/lowering/key_translation.h"

namespace tessera::query {
namespace {

using lang::fail_type;

constexpr int most_indices = 8;
/// Indices are far below this, and far above its negative; that makes the search for an overlap
/// finite.
constexpr std::int64_t index_limit = std::int64_t{1} << 40;

/// An expression of indices as a function of the key that they are, by their positions there.
std::optional<KeyExpr> function_of_key(const ExpressionPtr& bound,
                                       const std::vector<int>& positions) {
  // Parameters are read as columns, which are components of the key of indices.
  std::vector<Table::ColumnOrigin> origins;
  for (int position : positions) origins.emplace_back(key(position));
  const auto as_columns = [](const auto& self, const ExpressionPtr& part) -> ExpressionPtr {
    if (const auto* parameter = std::get_if<Parameter>(&part->node))
      return column_of(parameter->index, part->type, part->location);
    std::vector<ExpressionPtr> operands = operands_of(*part);
    for (ExpressionPtr& operand : operands) operand = self(self, operand);
    return operands.empty() ? part : with_operands(*part, std::move(operands));
  };
  return key_expression(*as_columns(as_columns, bound), origins, {});
}

/// An index expression as a function of the indices to its left.
KeyExpr index_expression(const sql::Expression& written, const std::vector<std::string>& names,
                         const std::vector<int>& positions) {
  const ExpressionPtr bound = bind_constant(written, names);
  if (!is_integer(bound->type))
    fail_type(written.location, "an index must be an integer, not {}", sql::to_string(bound->type));
  const auto expression = function_of_key(bound, positions);
  if (!expression)
    fail_type(written.location,
              "an index may use only integers, + - * // % and the indices to its left");
  return *expression;
}

}  // namespace

std::string version_name(const std::string& table, std::span<const std::int64_t> indices) {
  std::string name = table;
  for (std::int64_t index : indices) name += fmt::format("[{}]", index);
  return name;
}

VersionRule::VersionRule(sql::CreateTable definition, std::string text)
    : definition_(std::move(definition)), text_(std::move(text)) {
  if (definition_.indices.size() > most_indices)
    fail_type(definition_.indices[most_indices].location, "a table can have at most {} indices",
              most_indices);
  for (std::size_t p = 0; p < definition_.indices.size(); ++p) {
    const sql::IndexPattern& pattern = definition_.indices[p];
    const KeyExpr here = key(static_cast<int>(p));
    const KeyExpr from = index_expression(*pattern.from, parameters_, positions_);
    const bool is_one = !pattern.to && !pattern.unbounded;
    condition_ = condition_ && (is_one ? here == from : here >= from);
    if (pattern.to)
      condition_ = condition_ && here <= index_expression(*pattern.to, parameters_, positions_);
    if (pattern.variable.empty()) continue;
    for (const std::string& other : parameters_)
      if (same_name(other, pattern.variable))
        fail_type(pattern.location, "index \"{}\" specified more than once", pattern.variable);
    parameters_.push_back(pattern.variable);
    positions_.push_back(static_cast<int>(p));
  }
}

std::vector<std::string> VersionRule::column_names() const {
  std::vector<std::string> names;
  for (const sql::ColumnDefinition& column : definition_.columns) names.push_back(column.name);
  return names;
}

std::string VersionRule::head() const {
  std::string head = definition_.name;
  for (const sql::IndexPattern& pattern : definition_.indices) {
    head += "[" + (pattern.variable.empty() ? "" : pattern.variable + ":");
    head += sql::to_string(*pattern.from);
    if (pattern.to)
      head += "..." + sql::to_string(*pattern.to);
    else if (pattern.unbounded)
      head += "...";
    head += "]";
  }
  return head;
}

std::optional<KeyExpr> VersionRule::function_of_indices(const sql::Expression& written) const {
  const ExpressionPtr bound = bind_constant(written, parameters_);
  return is_integer(bound->type) ? function_of_key(bound, positions_) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> VersionRule::match(const Indices& indices) const {
  if (std::cmp_not_equal(indices.size(), arity())) return std::nullopt;
  const Key at(indices.begin(), indices.end());
  if (!condition_.evaluate(at)) return std::nullopt;
  std::vector<std::int64_t> values;
  for (std::size_t p = 0; p < indices.size(); ++p)
    if (!definition_.indices[p].variable.empty()) values.push_back(indices[p]);
  return values;
}

std::optional<Indices> overlap(const VersionRule& a, const VersionRule& b) {
  if (a.arity() != b.arity()) return std::nullopt;
  KeySolver solver{std::chrono::seconds(2)};
  KeyQuery query(solver);
  Bounds bounds;
  for (int d = 0; d < a.arity(); ++d) bounds.push_back({-index_limit, index_limit});
  const KeyQuery::Point point = query.unknown_point(bounds);
  query.require(query.holds(a.condition(), point));
  query.require(query.holds(b.condition(), point));
  if (query.satisfiable() != Answer::yes) return std::nullopt;
  const Key found = query.solution(point);
  return Indices(found.begin(), found.end());
}

NodePtr with_columns(const VersionRule& rule, const NodePtr& root) {
  const auto& columns = rule.columns();
  if (columns.empty()) return root;
  if (columns.size() != root->schema.size())
    fail_type(columns.front().location, "{} has {} columns but its query returns {}", rule.head(),
              columns.size(), root->schema.size());
  std::vector<ExpressionPtr> outputs;
  Schema schema = root->schema;
  bool converts = false;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    schema[c].name = columns[c].name;
    ExpressionPtr column =
        column_of(static_cast<int>(c), root->schema[c].type, columns[c].location);
    if (columns[c].type) {
      const ExpressionPtr typed = converted(column, *columns[c].type, columns[c].location);
      converts = converts || !std::holds_alternative<ColumnOf>(typed->node);
      schema[c].type = *columns[c].type;
      column = typed;
    }
    outputs.push_back(column);
  }
  if (converts) return make_node(Project{root, std::move(outputs)}, std::move(schema));
  return make_node(root->op, std::move(schema));
}

}  // namespace tessera::query
