#include "base/stop.h"
#include "query/binding/query_binder.h"
#include "query/binding/with_location.h"
#include "query/rows/kernel_location.h"

namespace tessera::query {

using lang::fail_type;

NodePtr QueryBinder::query(const sql::Query& query, CommonTables tables) {
  for (const sql::CommonTable& table : query.with) {
    const NodePtr node = this->query(*table.query, tables);
    tables.emplace_back(table.name, renamed(node, table.name, table.columns, table.location));
  }
  if (const auto* select = std::get_if<sql::Select>(&query.body))
    return limited(query, this->select(*select, query.order_by, tables));
  NodePtr node = std::holds_alternative<sql::Values>(query.body)
                     ? values(std::get<sql::Values>(query.body), query.location)
                     : united(std::get<sql::UnionOf>(query.body), tables, query.location);
  if (!query.order_by.empty()) {
    std::vector<SortKey> keys;
    for (const sql::OrderItem& item : query.order_by)
      keys.push_back(
          {column_of_result(*item.expression, node->schema, options_.parameters), item.descending});
    node = make_node(Sort{node, std::move(keys)}, node->schema);
  }
  return limited(query, node);
}

NodePtr QueryBinder::limited(const sql::Query& query, const NodePtr& node) const {
  if (!query.limit && !query.offset) return node;
  const auto count = [&](const sql::ExpressionPtr& written) -> ExpressionPtr {
    if (!written) return nullptr;
    const ExpressionPtr bound = bind_constant(*written, options_.parameters);
    const auto* constant = std::get_if<Constant>(&bound->node);
    const bool null = constant != nullptr && constant->value.is_null();
    if (!is_integer(bound->type) && !null)
      fail_type(written->location, "argument of LIMIT and OFFSET must be an integer, not {}",
                sql::to_string(bound->type));
    return bound;
  };
  return make_node(Limit{node, count(query.limit), count(query.offset)}, node->schema);
}

ExpressionPtr column_of_result(const sql::Expression& written, const Schema& schema,
                               const std::vector<std::string>& parameters) {
  if (const auto* literal = std::get_if<sql::Literal>(&written.node))
    if (const auto* number = std::get_if<std::int64_t>(&literal->value)) {
      if (*number < 1 || std::cmp_greater(*number, schema.size()))
        fail_type(written.location, "ORDER BY position {} is out of range; expected 1 to {}",
                  *number, schema.size());
      const int column = static_cast<int>(*number) - 1;
      return column_of(column, schema[column].type, written.location);
    }
  return bind(written, Scope{&schema, &parameters});
}

NodePtr QueryBinder::values(const sql::Values& written, Location location) const {
  const Scope scope{nullptr, &options_.parameters};
  std::vector<std::vector<ExpressionPtr>> rows;
  for (const auto& row : written.rows) {
    refuse_if_stopped("checking values");
    if (row.size() != written.rows.front().size())
      fail_type(row.empty() ? location : row.front()->location,
                "VALUES lists must all have the same length; found {} values after rows of {}",
                row.size(), written.rows.front().size());
    rows.emplace_back();
    for (const sql::ExpressionPtr& value : row) rows.back().push_back(bind(*value, scope));
  }
  Schema schema;
  const std::size_t columns = rows.front().size();
  const bool named = options_.target_columns.size() == columns;
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<ExpressionPtr> column;
    for (const auto& row : rows) column.push_back(row[c]);
    const Type type = common_type(column, location, "the values of a column");
    for (auto& row : rows) {
      refuse_if_stopped("checking values");
      row[c] = converted(row[c], type, row[c]->location);
    }
    schema.push_back({named ? options_.target_columns[c] : fmt::format("column{}", c + 1), type});
  }
  return make_node(ConstantRows{std::move(rows)}, std::move(schema));
}

NodePtr QueryBinder::united(const sql::UnionOf& written, const CommonTables& tables,
                            Location location) {
  std::vector<NodePtr> inputs{query(*written.left, tables), query(*written.right, tables)};
  NodePtr all =
      union_of(inputs, written.right->location.offset > 0 ? written.right->location : location);
  return written.all ? all : make_node(Distinct{all}, all->schema);
}

NodePtr bind(const sql::Query& query, Resolver& resolver, const BinderOptions& options) {
  const NodePtr bound = QueryBinder(resolver, options).query(query, {});
  return query.of_rule ? with_location(bound, elsewhere) : bound;
}

}  // namespace tessera::query
