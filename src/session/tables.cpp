#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/stop.h"
#include "lang/sql/printer.h"
#include "query/references.h"
#include "session/state.h"

namespace tessera {

using lang::fail_type;
using query::Rows;
using query::Schema;
using query::Value;
using session::Catalogue;
using session::TableDefinition;

namespace session {

void refuse_taken(Catalogue& catalogue, const std::string& name, lang::Place place) {
  if (catalogue.kind(name))
    fail_type(place, "{} is there already: DROP it first", catalogue.exact_name(name));
}

std::optional<Stored> to_store(const Value& value, const Schema& schema,
                               query::Dictionary& dictionary,
                               const std::vector<std::string>& primary_key) {
  std::vector<int> keys;
  for (const std::string& column : primary_key)
    for (std::size_t c = 0; c < schema.size(); ++c)
      if (query::same_name(schema[c].name, column)) keys.push_back(static_cast<int>(c));
  query::Table table =
      value.rows ? query::table_of(*value.rows, dictionary, keys) : query::tidied(*value.table);
  const Plan::Cardinality rows = table.plan.cardinality();
  if (rows.exact && rows.tuples == 0) return std::nullopt;
  return Stored{table.plan, to_text({schema, table.places, primary_key})};
}

}  // namespace session

namespace {

/// The columns of a table by the names it is created with.
Schema named(const Schema& schema, const std::vector<sql::ColumnDefinition>& columns,
             const std::string& table, lang::Place place) {
  Schema result = schema;
  if (!columns.empty() && columns.size() != schema.size())
    fail_type(columns.front().place, "{} has {} columns, and its query yields {}", table,
              columns.size(), schema.size());
  for (std::size_t c = 0; c < columns.size(); ++c) result[c].name = columns[c].name;
  for (query::Column& column : result) column.table.clear();
  for (std::size_t c = 0; c < result.size(); ++c)
    for (std::size_t other = 0; other < c; ++other)
      if (query::same_name(result[c].name, result[other].name))
        fail_type(columns.empty() ? place : columns[c].place,
                  "two columns of {} are called {}: give one of them another name", table,
                  result[c].name);
  return result;
}

}  // namespace

StatementResult Session::State::create_table(const sql::CreateTable& statement,
                                             std::string_view text) {
  if (!statement.indices.empty()) return create_rule(statement, text);
  const lang::Place place = statement.query ? statement.query->place : lang::Place{};
  Catalogue catalogue(database);
  if (statement.if_not_exists && catalogue.kind(statement.name))
    return {"CREATE TABLE", {}, fmt::format("{} is there already", statement.name)};
  session::refuse_taken(catalogue, statement.name, place);
  Changes changes;
  if (!statement.query) {
    TableDefinition definition;
    for (const sql::ColumnDefinition& column : statement.columns) {
      if (!column.type) fail_type(column.place, "the column {} has no type", column.name);
      definition.schema.push_back({column.name, *column.type});
    }
    definition.schema = named(definition.schema, statement.columns, statement.name, place);
    for (const std::string& part : statement.primary_key) {
      const auto column =
          std::find_if(definition.schema.begin(), definition.schema.end(),
                       [&](const query::Column& one) { return query::same_name(one.name, part); });
      if (column == definition.schema.end())
        fail_type(place, "the key of {} has no column {}", statement.name, part);
      if (!query::is_integer(column->type))
        fail_type(place, "{} is {}: a key is made of integers", part, sql::to_string(column->type));
    }
    definition.primary_key = statement.primary_key;
    changes.texts[session::table_text(statement.name)] = session::to_text(definition);
    database.change(changes, options.run);
    return {"CREATE TABLE", {}, fmt::format("{} is created", statement.name)};
  }
  std::vector<std::string> names;
  for (const sql::ColumnDefinition& column : statement.columns) names.push_back(column.name);
  Value value = evaluate({{statement.query, {}, {}, names}}, catalogue, changes).at(0);
  Schema schema = named(value.table ? value.table->schema : value.rows->schema, statement.columns,
                        statement.name, place);
  session::DatabaseDictionary texts = dictionary();
  for (std::size_t c = 0; c < statement.columns.size(); ++c)
    if (statement.columns[c].type && !(*statement.columns[c].type == schema[c].type))
      fail_type(statement.columns[c].place, "{} is {}, and the query yields {}: CAST it",
                statement.columns[c].name, sql::to_string(*statement.columns[c].type),
                sql::to_string(schema[c].type));
  const auto stored = session::to_store(value, schema, texts);
  if (stored) changes.results.emplace_back(statement.name, stored->plan);
  changes.texts[session::table_text(statement.name)] =
      stored ? stored->text : session::to_text({schema, {}});
  RunOptions run_options = options.run;
  run_options.holes = Holes::allowed;
  database.change(changes, run_options);
  const std::int64_t rows = stored ? database.info(statement.name).statistics.tuples : 0;
  return {"CREATE TABLE",
          {},
          fmt::format("{} has {}", statement.name, session::count_text(rows, "row"))};
}

StatementResult Session::State::create_view(const sql::CreateView& statement) {
  Catalogue catalogue(database);
  session::refuse_taken(catalogue, statement.name, statement.query->place);
  for (const sql::TableReference* read : query::references_in(*statement.query)) {
    const auto* table = std::get_if<sql::TableName>(&read->source);
    if (table == nullptr || !table->indices.empty())
      fail_type(read->place,
                "a view reads no versions of tables: write a rule of a versioned table instead, as "
                "in CREATE TABLE {}[0] AS ...",
                statement.name);
  }
  const query::Unrolled meaning = query::unroll({{statement.query}}, catalogue, options.run.stop);
  const std::size_t columns = meaning.instances.back().of->root->schema.size();
  if (!statement.columns.empty() && statement.columns.size() != columns)
    fail_type(statement.query->place, "{} has {} columns, and its query yields {}", statement.name,
              statement.columns.size(), columns);
  Changes changes;
  changes.texts[session::view_text(statement.name)] = nlohmann::json{
      {"columns", statement.columns},
      {"query", sql::to_string(*statement.query)}}.dump();
  database.change(changes, options.run);
  return {"CREATE VIEW", {}, fmt::format("{} is created", statement.name)};
}

namespace {

/// The columns of a table in the order in which an INSERT names them.
std::vector<int> named_columns(const sql::Insert& statement, const Schema& schema,
                               lang::Place place) {
  std::vector<int> columns;
  for (const std::string& name : statement.columns) {
    const auto found = std::find_if(schema.begin(), schema.end(), [&](const query::Column& column) {
      return query::same_name(column.name, name);
    });
    if (found == schema.end()) fail_type(place, "{} has no column {}", statement.table, name);
    const int column = static_cast<int>(found - schema.begin());
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      fail_type(place, "the column {} is named twice", name);
    columns.push_back(column);
  }
  if (columns.empty())
    for (std::size_t c = 0; c < schema.size(); ++c) columns.push_back(static_cast<int>(c));
  if (columns.size() != schema.size())
    fail_type(place, "{} has {} columns, and {} are given: a column has no default",
              statement.table, schema.size(), columns.size());
  return columns;
}

/// New rows in the columns of a table, converted to their types.
Rows fitted(const sql::Insert& statement, const Rows& given, const TableDefinition& definition,
            lang::Place place, const std::stop_token& stop) {
  const std::vector<int> columns = named_columns(statement, definition.schema, place);
  if (given.schema.size() != columns.size())
    fail_type(place, "{} values for {} columns of {}", given.schema.size(), columns.size(),
              statement.table);
  for (const query::Row& row : given.rows)
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (row[c].is_null())
        fail_type(place, "the column {} cannot hold NULL", definition.schema[columns[c]].name);
  Rows result{definition.schema, {}};
  std::vector<query::ExpressionPtr> outputs(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const query::Column& target = definition.schema[columns[c]];
    try {
      outputs[columns[c]] = query::converted(
          query::column_of(static_cast<int>(c), given.schema[c].type, place), target.type, place);
    } catch (const Error& error) {
      throw lang::ErrorAt(error.kind(), place,
                          fmt::format("the column {}: {}", target.name, error.what()));
    }
  }
  for (const query::Row& row : given.rows) {
    refuse_if_stopped(stop, "rows were inserted; nothing was kept");
    query::Row made;
    for (std::size_t c = 0; c < outputs.size(); ++c) {
      made.push_back(query::evaluate(*outputs[c], row, {}));
      const query::Column& column = definition.schema[c];
      if (column.type.kind == sql::Type::Kind::integer) {
        const std::int64_t value = made.back().integer();
        if (value < std::numeric_limits<std::int32_t>::min() ||
            value > std::numeric_limits<std::int32_t>::max())
          throw lang::ErrorAt(
              "ValueError", place,
              fmt::format("{} does not fit an INT, which has 32 bits: the column {} "
                          "has to be BIGINT",
                          value, column.name));
      }
    }
    result.rows.push_back(std::move(made));
  }
  return result;
}

void check_primary_key(const TableDefinition& definition, const Rows& rows, lang::Place place) {
  if (definition.primary_key.empty()) return;
  std::vector<std::size_t> columns;
  for (const std::string& part : definition.primary_key)
    for (std::size_t c = 0; c < definition.schema.size(); ++c)
      if (query::same_name(definition.schema[c].name, part)) columns.push_back(c);
  std::unordered_set<query::Row, query::RowHash, query::RowEqual> seen;
  for (const query::Row& row : rows.rows) {
    query::Row key;
    std::string text;
    for (std::size_t c : columns) {
      key.push_back(row[c]);
      text += (text.empty() ? "" : ", ") + std::to_string(row[c].integer());
      if (row[c].integer() < 0)
        throw lang::ErrorAt("ValueError", place,
                            fmt::format("{} is {}: a part of a primary key is not negative",
                                        definition.schema[c].name, row[c].integer()));
    }
    if (!seen.insert(std::move(key)).second)
      throw lang::ErrorAt("ValueError", place,
                          fmt::format("two rows have the primary key ({})", text));
  }
}

}  // namespace

StatementResult Session::State::insert(const sql::Insert& statement, lang::Place place) {
  Catalogue catalogue(database);
  const auto kind = catalogue.kind(statement.table);
  if (!kind)
    fail_type(place, "there is no table {}; there are: {}", statement.table, catalogue.all_names());
  const std::string name = catalogue.exact_name(statement.table);
  if (*kind != Catalogue::Kind::table)
    fail_type(place, "{} is no table that rows can be inserted into", name);
  const TableDefinition definition = catalogue.table(name);
  session::DatabaseDictionary texts = dictionary();
  Changes changes;
  Value value = evaluate({{statement.query}}, catalogue, changes).at(0);
  (void)query::as_rows(value, texts, settings());
  const Rows rows = fitted(statement, *value.rows, definition, place, options.run.stop);
  const auto inserted = static_cast<std::int64_t>(rows.rows.size());
  add_rows(catalogue, name, rows, changes, place);
  RunOptions run_options = options.run;
  run_options.holes = Holes::allowed;
  database.change(changes, run_options);
  return {"INSERT", {}, fmt::format("{} inserted", session::count_text(inserted, "row"))};
}

void Session::State::add_rows(Catalogue& catalogue, const std::string& name, Rows rows,
                              Changes& changes, lang::Place place) {
  if (rows.rows.empty()) return;
  const TableDefinition definition = catalogue.table(name);
  session::DatabaseDictionary texts = dictionary();
  check_primary_key(definition, rows, place);
  if (catalogue.has_tuples(name)) {
    const query::Table there = *catalogue.value(name).table;
    if (const auto tuples = query::appended(there, rows, texts)) {
      changes.appended.emplace_back(name, *tuples);
      rows.rows.clear();
    } else {
      // They do not fit beside what is there: all is laid out anew.
      Rows all = query::rows_of(there, texts, options.run.stop);
      all.rows.insert(all.rows.end(), rows.rows.begin(), rows.rows.end());
      rows.rows = std::move(all.rows);
      check_primary_key(definition, rows, place);
      changes.dropped.push_back(name);
    }
  }
  if (!rows.rows.empty()) {
    const auto stored =
        session::to_store({std::nullopt, rows}, definition.schema, texts, definition.primary_key);
    changes.results.emplace_back(name, stored->plan);
    changes.texts[session::table_text(name)] = stored->text;
  }
}

}  // namespace tessera
