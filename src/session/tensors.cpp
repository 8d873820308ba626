#include "session/state.h"

namespace tessera {

StatementResult Session::State::create_tensor(const sql::CreateTensor& statement,
                                              lang::Place place) {
  session::Catalogue catalogue(database);
  if (statement.if_not_exists && catalogue.kind(statement.name))
    return {"CREATE TENSOR", {}, fmt::format("{} is there already", statement.name)};
  session::refuse_taken(catalogue, statement.name, place);
  if (!statement.file) lang::fail_type(place, "CREATE TENSOR {} wants FROM 'file'", statement.name);
  FormatOptions format;
  if (statement.tile) format.tile = *statement.tile;
  const FileReport report = database.import_file(statement.name, *statement.file, format);
  return {"CREATE TENSOR", {}, fmt::format("{} rows read", report.rows)};
}

StatementResult Session::State::copy(const sql::Copy& statement, lang::Place place) {
  if (statement.from || statement.query) lang::fail_type(place, "COPY writes tensors to files");
  const FileReport report = database.export_file({statement.table}, statement.file);
  return {"COPY", {}, fmt::format("{} rows written", report.rows)};
}

}  // namespace tessera
