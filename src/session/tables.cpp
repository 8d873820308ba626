#include <algorithm>
#include <nlohmann/json.hpp>

#include "database/names.h"
#include "lang/sql/printer.h"
#include "query/binding/references.h"
#include "session/computation.h"
#include "session/state.h"

namespace tessera {

using lang::fail_type;
using query::Schema;
using query::Value;
using session::StoredDefinitions;
using session::TableDefinition;

namespace session {

void refuse_taken(StoredDefinitions& catalogue, const std::string& name, lang::Location location) {
  lang::at_location(location, [&] { check_name(name); });
  if (catalogue.kind(name))
    fail_type(location, "{} is there already: DROP it first", catalogue.exact_name(name));
}

std::optional<Stored> to_store(const Value& value, const Schema& schema,
                               query::Dictionary& dictionary,
                               const std::vector<std::string>& primary_key) {
  std::vector<int> keys;
  for (const std::string& column : primary_key)
    for (std::size_t c = 0; c < schema.size(); ++c)
      if (query::same_name(schema[c].name, column)) keys.push_back(static_cast<int>(c));
  query::Table table = value.rows ? query::table_of(*value.rows, dictionary, keys)
                                  : query::stored_form(*value.table);
  const Plan::Cardinality rows = table.plan.cardinality();
  if (rows.exact && rows.tuples == 0) return std::nullopt;
  return Stored{table.plan, to_text({schema, table.origins, primary_key}),
                text_columns(schema, table.origins)};
}

void add_result(Changes& changes, const std::string& name, const Stored& stored) {
  changes.results.emplace_back(name, stored.plan);
  changes.string_columns[name] = stored.text_columns;
}

std::vector<int> text_columns(const Schema& schema,
                              const std::vector<query::Table::ColumnOrigin>& origins) {
  std::vector<int> columns;
  for (std::size_t c = 0; c < origins.size(); ++c)
    if (query::is_text(schema[c].type)) columns.push_back(std::get<int>(origins[c]));
  return columns;
}

}  // namespace session

namespace {

/// The columns of a table by the names it is created with.
Schema named(const Schema& schema, const std::vector<sql::ColumnDefinition>& columns,
             const std::string& table, lang::Location location) {
  Schema result = schema;
  if (!columns.empty() && columns.size() != schema.size())
    fail_type(columns.front().location, "{} has {} columns, and its query yields {}", table,
              columns.size(), schema.size());
  for (std::size_t c = 0; c < columns.size(); ++c) result[c].name = columns[c].name;
  for (query::Column& column : result) column.table.clear();
  for (std::size_t c = 0; c < result.size(); ++c)
    for (std::size_t other = 0; other < c; ++other)
      if (query::same_name(result[c].name, result[other].name))
        fail_type(columns.empty() ? location : columns[c].location,
                  "two columns of {} are called {}: give one of them another name", table,
                  result[c].name);
  return result;
}

}  // namespace

session::Output session::output_of(const sql::CreateTable& statement) {
  std::vector<std::string> names;
  for (const sql::ColumnDefinition& column : statement.columns) names.push_back(column.name);
  return {{statement.query, {}, {}, std::move(names)}, statement.name};
}

StatementResult Session::State::create_table(const sql::CreateTable& statement,
                                             std::string_view text) {
  if (!statement.indices.empty()) return create_rule(statement, text);
  const lang::Location location = statement.query ? statement.query->location : lang::Location{};
  StoredDefinitions catalogue(*snapshot);
  if (statement.if_not_exists && catalogue.kind(statement.name))
    return {"CREATE TABLE", {}, fmt::format("{} is there already", statement.name)};
  session::refuse_taken(catalogue, statement.name, location);
  Changes changes;
  if (!statement.query) {
    TableDefinition definition;
    for (const sql::ColumnDefinition& column : statement.columns) {
      if (!column.type) fail_type(column.location, "the column {} has no type", column.name);
      definition.schema.push_back({column.name, *column.type});
    }
    definition.schema = named(definition.schema, statement.columns, statement.name, location);
    for (const std::string& part : statement.primary_key) {
      const auto column =
          std::find_if(definition.schema.begin(), definition.schema.end(),
                       [&](const query::Column& one) { return query::same_name(one.name, part); });
      if (column == definition.schema.end())
        fail_type(location, "the key of {} has no column {}", statement.name, part);
      if (!query::is_integer(column->type))
        fail_type(location, "{} is {}: a key is made of integers", part,
                  sql::to_string(column->type));
    }
    definition.primary_key = statement.primary_key;
    changes.texts[session::table_text(statement.name)] = session::to_text(definition);
    commit(changes, options.run);
    return {"CREATE TABLE", {}, fmt::format("{} is created", statement.name)};
  }
  const Value value = evaluate(session::output_of(statement).request, catalogue, changes);
  Schema schema = named(value.table ? value.table->schema : value.rows->schema, statement.columns,
                        statement.name, location);
  for (std::size_t c = 0; c < statement.columns.size(); ++c)
    if (statement.columns[c].type && !(*statement.columns[c].type == schema[c].type))
      fail_type(statement.columns[c].location, "{} is {}, and the query yields {}: CAST it",
                statement.columns[c].name, sql::to_string(*statement.columns[c].type),
                sql::to_string(schema[c].type));
  const auto stored = session::to_store(value, schema, *texts);
  if (stored) session::add_result(changes, statement.name, *stored);
  changes.texts[session::table_text(statement.name)] =
      stored ? stored->text : session::to_text({schema, {}});
  RunOptions run_options = options.run;
  run_options.holes = Holes::allowed;
  const Snapshot made = commit(changes, run_options);
  const std::int64_t rows = stored ? made.info(statement.name).statistics.tuples : 0;
  return {"CREATE TABLE",
          {},
          fmt::format("{} has {}", statement.name, session::count_text(rows, "row"))};
}

StatementResult Session::State::create_view(const sql::CreateView& statement) {
  StoredDefinitions catalogue(*snapshot);
  session::refuse_taken(catalogue, statement.name, statement.query->location);
  for (const sql::TableReference* read : query::references_in(*statement.query)) {
    const auto* table = std::get_if<sql::TableName>(&read->source);
    if (table == nullptr || !table->indices.empty())
      fail_type(read->location,
                "a view reads no versions of tables: write a rule of a versioned table instead, as "
                "in CREATE TABLE {}[0] AS ...",
                statement.name);
  }
  const query::Unrolled meaning = query::unroll({{statement.query}}, catalogue, options.run.stop);
  const std::size_t columns = meaning.instances.back().of->root->schema.size();
  if (!statement.columns.empty() && statement.columns.size() != columns)
    fail_type(statement.query->location, "{} has {} columns, and its query yields {}",
              statement.name, statement.columns.size(), columns);
  Changes changes;
  changes.texts[session::view_text(statement.name)] = nlohmann::json{
      {"columns", statement.columns},
      {"query", sql::to_string(*statement.query)}}.dump();
  commit(changes, options.run);
  return {"CREATE VIEW", {}, fmt::format("{} is created", statement.name)};
}

}  // namespace tessera
