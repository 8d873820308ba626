#include <unistd.h>

#include <algorithm>

#include "database/by_first.h"
#include "database/write_through.h"
#include "session/file_options.h"
#include "session/row_file.h"
#include "session/state.h"
#include "session/tensor_result.h"
#include "session/tensor_selection.h"

// COPY: rows as csv, with their tensors as fields; whole tensors in every format that holds them.

namespace tessera {

using lang::fail_type;
using session::StoredDefinitions;

namespace {

bool has_tensors(const query::Schema& schema) {
  return std::any_of(schema.begin(), schema.end(),
                     [](const query::Column& column) { return query::is_tensor(column.type); });
}

/// Of the processes of a cluster one writes a file, and the others wait until it is there.
void written_by_first(const RunOptions& run, const std::string& file, const query::Rows& rows,
                      const FormatOptions& format) {
  (void)by_first(*run.engine, "write " + file, [&] {
    session::write_rows(file, rows, format);
    return std::string();
  });
}

StatementResult read_in(std::int64_t rows) {
  return {"COPY", {}, fmt::format("read {}", session::count_text(rows, "row"))};
}

/// What is written to the standard output is all that stands there.
StatementResult written_to(const std::string& file, std::int64_t rows) {
  if (descriptor_of(file) == STDOUT_FILENO) return {"COPY"};
  return {"COPY", {}, fmt::format("wrote {}", session::count_text(rows, "row"))};
}

/// A tensor of a database as a file, which one of several processes writes.
StatementResult exported(const Database& database, const std::string& name, const std::string& file,
                         const FormatOptions& format, const RunOptions& run) {
  const std::string rows = by_first(*run.engine, "write " + file, [&] {
    return std::to_string(database.export_file({name}, file, format).rows);
  });
  return written_to(file, std::stoll(rows));
}

}  // namespace

StatementResult Session::State::copy_selected(const sql::Query& query, const std::string& file,
                                              const FormatOptions& format,
                                              StoredDefinitions& catalogue) {
  const std::vector<session::PlannedTensor> selected =
      session::selected_tensors(query, *snapshot, catalogue);
  if (selected.size() > 1)
    fail_type(selected[1].location, "COPY writes one tensor, but the SELECT has {}",
              selected.size());
  session::refuse_virtual(selected.front());
  const Database made =
      session::stored_temporarily(selected.front(), database.external_access(), options.run);
  return exported(made, made.list().at(0).name, file, format, options.run);
}

StatementResult Session::State::copy(const sql::Copy& statement, lang::Location location) {
  const FormatOptions format = session::file_options(statement.options, options);
  StoredDefinitions catalogue(*snapshot);
  if (statement.query && session::selects_tensors(*statement.query, *snapshot, catalogue))
    return copy_selected(*statement.query, statement.file, format, catalogue);
  if (statement.query) {
    session::require_row_format(statement.file, format);
    Changes changes;
    query::Value value = evaluate({statement.query}, catalogue, changes);
    const query::Rows& rows = query::as_rows(value, *texts, settings());
    written_by_first(options.run, statement.file, rows, format);
    if (!changes.texts.empty()) commit(changes, options.run);
    return written_to(statement.file, static_cast<std::int64_t>(rows.rows.size()));
  }

  const auto kind = catalogue.kind(statement.table);
  if (!kind)
    fail_type(location, "table or tensor \"{}\" not found; {}{}", statement.table,
              catalogue.instead_of(statement.table),
              statement.from ? "; CREATE TENSOR ... FROM creates a new tensor from a file" : "");
  const std::string name = catalogue.exact_name(statement.table);
  if (*kind == StoredDefinitions::Kind::versions || *kind == StoredDefinitions::Kind::view)
    fail_type(location, "cannot copy {} \"{}\"; use COPY (SELECT ...) TO to write its rows",
              session::kind_name(*kind), name);
  if (*kind == StoredDefinitions::Kind::virtual_tensor)
    fail_type(location, "tensor \"{}\" is virtual and has no data", name);
  if (statement.from && *kind == StoredDefinitions::Kind::tensor)
    fail_type(location,
              "cannot copy into tensor \"{}\"; drop it and use CREATE TENSOR {} FROM the file",
              name, name);
  const query::Schema schema = catalogue.table(name).schema;
  if (statement.from) {
    session::require_row_format(statement.file, format);
    const query::Rows rows = session::read_rows(statement.file, schema, format);
    Changes changes;
    add_rows(catalogue, name, rows, changes, location);
    RunOptions run_options = options.run;
    run_options.holes = Holes::allowed;
    commit(changes, run_options);
    return read_in(static_cast<std::int64_t>(rows.rows.size()));
  }
  const bool is_tensor = *kind == StoredDefinitions::Kind::tensor ||
                         (!session::is_row_format(statement.file, format) && has_tensors(schema) &&
                          catalogue.has_tuples(name) && snapshot->info(name).shape);
  if (is_tensor) return exported(database, name, statement.file, format, options.run);
  session::require_row_format(statement.file, format);
  query::Value value = catalogue.value(name);
  if (!value.rows) value.rows = query::rows_of(*value.table, *texts, options.run.stop);
  written_by_first(options.run, statement.file, *value.rows, format);
  return written_to(statement.file, static_cast<std::int64_t>(value.rows->rows.size()));
}

}  // namespace tessera
