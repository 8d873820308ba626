#include "query/binding/query_binder.h"
#include "query/binding/with_location.h"

// What stands in a FROM clause: tables and their versions, views, tables of WITH, queries.

namespace tessera::query {

using lang::fail_type;

NodePtr renamed(const NodePtr& node, const std::string& table,
                const std::vector<std::string>& columns, Location location) {
  if (columns.size() > node->schema.size())
    fail_type(location, "{} column names given for the {} columns of {}", columns.size(),
              node->schema.size(), table.empty() ? "a query" : fmt::format("\"{}\"", table));
  Schema schema = node->schema;
  std::vector<ExpressionPtr> same_columns;
  for (std::size_t c = 0; c < schema.size(); ++c) {
    same_columns.push_back(column_of(static_cast<int>(c), schema[c].type));
    schema[c].table = table;
    if (c < columns.size()) schema[c].name = columns[c];
  }
  // A table of its own is just called differently; the result of a query is projected.
  if (std::holds_alternative<Scan>(node->op)) return make_node(node->op, std::move(schema));
  return make_node(Project{node, std::move(same_columns)}, std::move(schema));
}

NodePtr union_of(std::vector<NodePtr> inputs, Location location) {
  Schema schema = inputs.front()->schema;
  for (const NodePtr& input : inputs)
    if (input->schema.size() != schema.size())
      fail_type(location, "each UNION query must have the same number of columns, not {} and {}",
                schema.size(), input->schema.size());
  for (std::size_t c = 0; c < schema.size(); ++c) {
    std::vector<ExpressionPtr> column;
    for (const NodePtr& input : inputs)
      column.push_back(column_of(static_cast<int>(c), input->schema[c].type, location));
    schema[c].type =
        common_type(column, location, fmt::format("the values of column {} of a UNION", c + 1));
  }
  for (NodePtr& input : inputs) {
    std::vector<ExpressionPtr> outputs;
    bool differs = false;
    for (std::size_t c = 0; c < schema.size(); ++c) {
      const ExpressionPtr column = column_of(static_cast<int>(c), input->schema[c].type, location);
      const bool alike = tile_type(column->type).dtype == tile_type(schema[c].type).dtype;
      differs = differs || !alike;
      outputs.push_back(alike ? column : converted(column, schema[c].type, location));
    }
    if (differs) input = make_node(Project{input, std::move(outputs)}, schema);
  }
  return inputs.size() == 1 ? inputs[0] : make_node(UnionAll{std::move(inputs)}, schema);
}

NodePtr QueryBinder::table(const sql::TableReference& reference, const CommonTables& tables) {
  const Location location = reference.location;
  if (const auto* derived = std::get_if<sql::Derived>(&reference.source))
    return renamed(query(*derived->query, tables), reference.alias, reference.column_aliases,
                   location);
  const auto* named = std::get_if<sql::TableName>(&reference.source);
  const std::string& name =
      named != nullptr ? named->name : std::get<sql::UnionOfVersions>(reference.source).name;
  const std::string& alias = reference.alias.empty() ? name : reference.alias;
  if (named != nullptr && named->indices.empty()) {
    for (auto common = tables.rbegin(); common != tables.rend(); ++common)
      if (same_name(common->first, name))
        return renamed(common->second, alias, reference.column_aliases, location);
    if (const auto view = resolver_.view(name)) {
      if (++views_ > 100)
        fail_type(location, "views are nested more than 100 levels deep at view \"{}\"", name);
      const NodePtr node = lang::in_other_text(
          name, location, [&] { return QueryBinder(*this).query(*view->query, {}); });
      --views_;
      return renamed(renamed(with_location(node, location), name, view->columns, location), alias,
                     reference.column_aliases, location);
    }
  }
  const std::vector<Source> sources =
      lang::at_location(location, [&] { return resolver_.tables(reference); });
  std::vector<NodePtr> scans;
  for (const Source& source : sources) {
    Schema schema = source.schema;
    for (Column& column : schema) column.table = name;
    scans.push_back(make_node(Scan{source.input}, std::move(schema)));
  }
  return renamed(union_of(std::move(scans), location), alias, reference.column_aliases, location);
}

}  // namespace tessera::query
