#include "database/together.h"
#include "session/file_options.h"
#include "session/row_file.h"
#include "session/state.h"

// COPY: tensors in every format that holds them, rows of numbers and texts as csv.

namespace tessera {

using lang::fail_type;
using session::Catalogue;

namespace {

const query::Column* tensor_column(const query::Schema& schema) {
  for (const query::Column& column : schema)
    if (query::is_tensor(column.type)) return &column;
  return nullptr;
}

/// Of the processes of a cluster one writes a file, and the others wait until it is there.
void written_by_first(const std::string& file, const query::Rows& rows,
                      const FormatOptions& format) {
  (void)by_first("write " + file, [&] {
    session::write_rows(file, rows, format);
    return std::string();
  });
}

StatementResult copied(std::int64_t rows, std::string_view what) {
  return {"COPY", {}, fmt::format("{} {}", session::count_text(rows, "row"), what)};
}

}  // namespace

StatementResult Session::State::copy(const sql::Copy& statement, lang::Place place) {
  const FormatOptions format = session::file_options(statement.options, options);
  Catalogue catalogue(*snapshot);
  if (statement.query) {
    session::require_row_format(statement.file, format);
    Changes changes;
    query::Value value = evaluate({statement.query}, catalogue, changes);
    const query::Schema schema = value.table ? value.table->schema : value.rows->schema;
    if (const query::Column* column = tensor_column(schema))
      fail_type(place,
                "{} is {}: csv holds numbers and texts. Store a tensor with CREATE TENSOR, "
                "and COPY that",
                column->name, sql::to_string(column->type));
    const query::Rows& rows = query::as_rows(value, *texts, settings());
    written_by_first(statement.file, rows, format);
    if (!changes.texts.empty()) commit(changes, options.run);
    return copied(static_cast<std::int64_t>(rows.rows.size()), "written");
  }

  const auto kind = catalogue.kind(statement.table);
  if (!kind)
    fail_type(place, "there is no {}; there are: {}{}", statement.table, catalogue.all_names(),
              statement.from ? ". CREATE TENSOR ... FROM makes a new one of a file" : "");
  const std::string name = catalogue.exact_name(statement.table);
  if (*kind == Catalogue::Kind::versions || *kind == Catalogue::Kind::view)
    fail_type(place, "{} has no rows of its own: COPY (SELECT ...) TO writes what it yields", name);
  if (*kind == Catalogue::Kind::virtual_tensor)
    fail_type(place, "{} is virtual, a shape without data", name);
  if (statement.from && *kind == Catalogue::Kind::tensor)
    fail_type(place,
              "{} is a tensor, which is read as a whole: DROP it, and CREATE TENSOR {} FROM "
              "the file",
              name, name);
  const query::Schema schema = catalogue.table(name).schema;
  const query::Column* column = *kind == Catalogue::Kind::table ? tensor_column(schema) : nullptr;
  if (statement.from) {
    if (column != nullptr)
      fail_type(place,
                "the column {} is {}: csv holds numbers and texts. CREATE TENSOR ... FROM "
                "reads tensors, and INSERT ... SELECT k0, k1, tile adds their tiles to {}",
                column->name, sql::to_string(column->type), name);
    session::require_row_format(statement.file, format);
    const query::Rows rows = session::read_rows(statement.file, schema, format);
    Changes changes;
    add_rows(catalogue, name, rows, changes, place);
    RunOptions run_options = options.run;
    run_options.holes = Holes::allowed;
    commit(changes, run_options);
    return copied(static_cast<std::int64_t>(rows.rows.size()), "read");
  }
  const bool whole = catalogue.has_tuples(name) && snapshot->info(name).shape;
  if (*kind == Catalogue::Kind::tensor || (column != nullptr && whole)) {
    const std::string rows = by_first("write " + statement.file, [&] {
      return std::to_string(database.export_file({name}, statement.file, format).rows);
    });
    return copied(std::stoll(rows), "written");
  }
  if (column != nullptr)
    fail_type(place,
              "the column {} of {} is {}, and the table is no whole tensor: a file holds rows "
              "of numbers and texts, or one tensor",
              column->name, name, sql::to_string(column->type));
  session::require_row_format(statement.file, format);
  query::Value value = catalogue.value(name);
  if (!value.rows) value.rows = query::rows_of(*value.table, *texts, options.run.stop);
  written_by_first(statement.file, *value.rows, format);
  return copied(static_cast<std::int64_t>(value.rows->rows.size()), "written");
}

}  // namespace tessera
