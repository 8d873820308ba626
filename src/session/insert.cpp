#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/stop.h"
#include "session/state.h"
#include "session/stored_result.h"

namespace tessera {

using lang::fail_type;
using query::Rows;
using query::Schema;
using query::Value;
using session::StoredDefinitions;
using session::TableDefinition;

namespace {

/// The columns of a table in the order in which an INSERT names them.
std::vector<int> named_columns(const sql::Insert& statement, const Schema& schema,
                               lang::Location location) {
  std::vector<int> columns;
  for (const std::string& name : statement.columns) {
    const auto found = std::find_if(schema.begin(), schema.end(), [&](const query::Column& column) {
      return query::same_name(column.name, name);
    });
    if (found == schema.end())
      fail_type(location, "table \"{}\" has no column \"{}\"", statement.table, name);
    const int column = static_cast<int>(found - schema.begin());
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      fail_type(location, "column \"{}\" specified more than once", name);
    columns.push_back(column);
  }
  if (columns.empty())
    for (std::size_t c = 0; c < schema.size(); ++c) columns.push_back(static_cast<int>(c));
  if (columns.size() != schema.size())
    fail_type(location,
              "table \"{}\" has {} columns but {} were specified; columns have no default values",
              statement.table, schema.size(), columns.size());
  return columns;
}

/// New rows in the columns of a table, converted to their types.
Rows fitted(const sql::Insert& statement, const Rows& given, const TableDefinition& definition,
            lang::Location location, const std::stop_token& stop) {
  const std::vector<int> columns = named_columns(statement, definition.schema, location);
  if (given.schema.size() != columns.size())
    fail_type(location, "wrong number of values for table \"{2}\": expected {1}, found {0}",
              given.schema.size(), columns.size(), statement.table);
  for (const query::Row& row : given.rows)
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (row[c].is_null())
        fail_type(location, "column \"{}\" cannot be NULL", definition.schema[columns[c]].name);
  Rows result{definition.schema, {}};
  std::vector<query::ExpressionPtr> outputs(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const query::Column& target = definition.schema[columns[c]];
    try {
      outputs[columns[c]] =
          query::converted(query::column_of(static_cast<int>(c), given.schema[c].type, location),
                           target.type, location);
    } catch (const Error& error) {
      throw lang::ErrorAt(error.kind(), location,
                          fmt::format("column \"{}\": {}", target.name, error.what()));
    }
  }
  for (const query::Row& row : given.rows) {
    refuse_if_stopped(stop, "inserting rows; nothing was stored");
    query::Row made;
    for (std::size_t c = 0; c < outputs.size(); ++c) {
      made.push_back(query::evaluate(*outputs[c], row, {}));
      const query::Column& column = definition.schema[c];
      if (column.type.kind == sql::Type::Kind::integer) {
        const std::int64_t value = made.back().integer();
        if (value < std::numeric_limits<std::int32_t>::min() ||
            value > std::numeric_limits<std::int32_t>::max())
          throw lang::ErrorAt(
              "ValueError", location,
              fmt::format("{} is out of range for INT; declare column \"{}\" as BIGINT", value,
                          column.name));
      }
    }
    result.rows.push_back(std::move(made));
  }
  return result;
}

void check_primary_key(const TableDefinition& definition, const Rows& rows,
                       lang::Location location) {
  if (definition.primary_key.empty()) return;
  std::vector<std::size_t> columns;
  for (const std::string& part : definition.primary_key)
    for (std::size_t c = 0; c < definition.schema.size(); ++c)
      if (query::same_name(definition.schema[c].name, part)) columns.push_back(c);
  std::unordered_set<query::Row, query::RowHash, query::RowEqual> seen;
  for (const query::Row& row : rows.rows) {
    refuse_if_stopped("checking the primary key; nothing was stored");
    query::Row key;
    std::string text;
    for (std::size_t c : columns) {
      key.push_back(row[c]);
      text += (text.empty() ? "" : ", ") + std::to_string(row[c].integer());
      if (row[c].integer() < 0)
        throw lang::ErrorAt("ValueError", location,
                            fmt::format("primary key column \"{}\" cannot be negative, but is {}",
                                        definition.schema[c].name, row[c].integer()));
    }
    if (!seen.insert(std::move(key)).second)
      throw lang::ErrorAt("ValueError", location, fmt::format("duplicate primary key ({})", text));
  }
}

}  // namespace

StatementResult Session::State::insert(const sql::Insert& statement, lang::Location location) {
  StoredDefinitions catalogue(*snapshot);
  const auto kind = catalogue.kind(statement.table);
  if (!kind)
    fail_type(location, "table \"{}\" not found; {}", statement.table,
              catalogue.instead_of(statement.table));
  const std::string name = catalogue.exact_name(statement.table);
  if (*kind != StoredDefinitions::Kind::table)
    fail_type(location, "cannot insert into {} \"{}\"", session::kind_name(*kind), name);
  const TableDefinition definition = catalogue.table(name);
  Changes changes;
  Value value = evaluate({statement.query}, catalogue, changes);
  (void)query::as_rows(value, *texts, settings());
  const Rows rows = fitted(statement, *value.rows, definition, location, options.run.stop);
  const auto inserted = static_cast<std::int64_t>(rows.rows.size());
  add_rows(catalogue, name, rows, changes, location);
  RunOptions run_options = options.run;
  run_options.holes = Holes::allowed;
  commit(changes, run_options);
  return {"INSERT", {}, fmt::format("inserted {}", session::count_text(inserted, "row"))};
}

void Session::State::add_rows(StoredDefinitions& catalogue, const std::string& name, Rows rows,
                              Changes& changes, lang::Location location) {
  if (rows.rows.empty()) return;
  const TableDefinition definition = catalogue.table(name);
  check_primary_key(definition, rows, location);
  if (catalogue.has_tuples(name)) {
    const query::Table there = *catalogue.value(name).table;
    if (const auto tuples = query::appended(there, rows, *texts)) {
      changes.appended.emplace_back(name, *tuples);
      changes.string_columns[name] = session::text_columns(there.schema, there.origins);
      rows.rows.clear();
    } else {
      // They do not fit beside what is there: all is laid out anew.
      Rows all = query::rows_of(there, *texts, options.run.stop);
      all.rows.insert(all.rows.end(), rows.rows.begin(), rows.rows.end());
      rows.rows = std::move(all.rows);
      check_primary_key(definition, rows, location);
      changes.dropped.push_back(name);
    }
  }
  if (!rows.rows.empty()) {
    const auto stored = session::to_store({std::nullopt, rows}, definition.schema, *texts,
                                          options.run, definition.primary_key);
    session::add_result(changes, name, *stored);
    changes.texts[session::table_text(name)] = stored->text;
  }
}

}  // namespace tessera
