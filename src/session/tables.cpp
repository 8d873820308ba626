#include <algorithm>
#include <nlohmann/json.hpp>

#include "database/names.h"
#include "lang/sql/printer.h"
#include "query/binding/references.h"
#include "session/computation.h"
#include "session/state.h"
#include "session/stored_result.h"

namespace tessera {

using lang::fail_type;
using query::Schema;
using query::Value;
using session::StoredDefinitions;
using session::TableDefinition;

namespace session {

void refuse_taken(StoredDefinitions& catalogue, const std::string& name, lang::Location location) {
  lang::at_location(location, [&] { check_name(name); });
  if (const auto kind = catalogue.kind(name))
    fail_type(location, "{} \"{}\" already exists; drop it first", session::kind_name(*kind),
              catalogue.exact_name(name));
}

void refuse_taken(StoredDefinitions& catalogue, const sql::CreateTable& statement,
                  lang::Location location) {
  if (!statement.or_replace || catalogue.kind(statement.name) != StoredDefinitions::Kind::table)
    refuse_taken(catalogue, statement.name, location);
}

void refuse_taken(StoredDefinitions& catalogue, const sql::CreateTensor& statement,
                  lang::Location location) {
  const auto kind = catalogue.kind(statement.name);
  const bool is_tensor =
      kind == StoredDefinitions::Kind::tensor || kind == StoredDefinitions::Kind::virtual_tensor;
  if (!statement.or_replace || !is_tensor) refuse_taken(catalogue, statement.name, location);
}

}  // namespace session

namespace {

/// The columns of a table by the names it is created with.
Schema named(const Schema& schema, const std::vector<sql::ColumnDefinition>& columns,
             const std::string& table, lang::Location location) {
  Schema result = schema;
  if (!columns.empty() && columns.size() != schema.size())
    fail_type(columns.front().location, "table \"{}\" has {} columns but its query returns {}",
              table, columns.size(), schema.size());
  for (std::size_t c = 0; c < columns.size(); ++c) result[c].name = columns[c].name;
  for (query::Column& column : result) column.table.clear();
  for (std::size_t c = 0; c < result.size(); ++c)
    for (std::size_t other = 0; other < c; ++other)
      if (query::same_name(result[c].name, result[other].name))
        fail_type(columns.empty() ? location : columns[c].location,
                  "table \"{}\" has two columns named \"{}\"; rename one of them", table,
                  result[c].name);
  return result;
}

}  // namespace

void session::store_as_table(const sql::CreateTable& statement, const Value& value,
                             query::Dictionary& dictionary, const RunOptions& run,
                             Changes& changes) {
  const Schema schema = named(value.table ? value.table->schema : value.rows->schema,
                              statement.columns, statement.name, statement.query->location);
  for (std::size_t c = 0; c < statement.columns.size(); ++c)
    if (statement.columns[c].type && !(*statement.columns[c].type == schema[c].type))
      fail_type(statement.columns[c].location,
                "column \"{}\" is of type {} but the query returns {}; add a CAST",
                statement.columns[c].name, sql::to_string(*statement.columns[c].type),
                sql::to_string(schema[c].type));
  const auto stored = to_store(value, schema, dictionary, run);
  if (stored) add_result(changes, statement.name, *stored);
  changes.texts[table_text(statement.name)] = stored ? stored->text : to_text({schema, {}});
}

StatementResult Session::State::create_table(const sql::CreateTable& statement,
                                             std::string_view text) {
  if (!statement.indices.empty()) return create_rule(statement, text);
  const lang::Location location = statement.query ? statement.query->location : lang::Location{};
  StoredDefinitions catalogue(*snapshot);
  if (statement.if_not_exists && catalogue.kind(statement.name))
    return {"CREATE TABLE", {}, fmt::format("{} already exists, skipping", statement.name)};
  if (!statement.query) {
    session::refuse_taken(catalogue, statement, location);
    TableDefinition definition;
    for (const sql::ColumnDefinition& column : statement.columns) {
      if (!column.type) fail_type(column.location, "column \"{}\" has no type", column.name);
      definition.schema.push_back({column.name, *column.type});
    }
    definition.schema = named(definition.schema, statement.columns, statement.name, location);
    for (const std::string& part : statement.primary_key) {
      const auto column =
          std::find_if(definition.schema.begin(), definition.schema.end(),
                       [&](const query::Column& one) { return query::same_name(one.name, part); });
      if (column == definition.schema.end())
        fail_type(location, "table \"{}\" has no column \"{}\" for its primary key", statement.name,
                  part);
      if (!query::is_integer(column->type))
        fail_type(location, "primary key column \"{}\" must be an integer, not {}", part,
                  sql::to_string(column->type));
    }
    definition.primary_key = statement.primary_key;
    Changes changes;
    changes.texts[session::table_text(statement.name)] = session::to_text(definition);
    if (statement.or_replace) session::drop_replaced(catalogue, *snapshot, statement.name, changes);
    commit(changes, options.run);
    return {"CREATE TABLE", {}, fmt::format("created table {}", statement.name)};
  }
  session::Computation computation = computation_of(statement, catalogue, true);
  session::Outcome outcome = outcome_of(computation, catalogue);
  const bool any_rows = !outcome.changes.results.empty();
  if (statement.or_replace)
    session::drop_replaced(catalogue, *snapshot, statement.name, outcome.changes);
  const Snapshot made = commit(outcome);
  const std::int64_t rows = any_rows ? made.info(statement.name).statistics.tuples : 0;
  return {
      "CREATE TABLE",
      {},
      fmt::format("created table {} with {}", statement.name, session::count_text(rows, "row"))};
}

StatementResult Session::State::create_view(const sql::CreateView& statement) {
  StoredDefinitions catalogue(*snapshot);
  session::refuse_taken(catalogue, statement.name, statement.query->location);
  for (const sql::TableReference* read : query::references_in(*statement.query)) {
    const auto* table = std::get_if<sql::TableName>(&read->source);
    if (table == nullptr || !table->indices.empty())
      fail_type(read->location,
                "a view cannot read versions of tables; create a versioned table instead, such as "
                "CREATE TABLE {}[0] AS ...",
                statement.name);
  }
  const query::Unrolled meaning = query::unroll({{statement.query}}, catalogue, options.run.stop);
  const std::size_t columns = meaning.instances.back().of->root->schema.size();
  if (!statement.columns.empty() && statement.columns.size() != columns)
    fail_type(statement.query->location, "view \"{}\" has {} columns but its query returns {}",
              statement.name, statement.columns.size(), columns);
  Changes changes;
  changes.texts[session::view_text(statement.name)] = nlohmann::json{
      {"columns", statement.columns},
      {"query", sql::to_string(*statement.query)}}.dump();
  commit(changes, options.run);
  return {"CREATE VIEW", {}, fmt::format("created view {}", statement.name)};
}

}  // namespace tessera
