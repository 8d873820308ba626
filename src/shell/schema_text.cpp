#include "shell/schema_text.h"

#include <fmt/format.h>

#include "base/check.h"
#include "lang/sql/printer.h"
#include "session/stored_definitions.h"

namespace tessera::shell {
namespace {

using session::StoredDefinitions;
using sql::quoted_if_needed;

std::string table_text(StoredDefinitions& catalogue, const std::string& name) {
  const session::TableDefinition definition = catalogue.table(name);
  std::vector<std::string> parts;
  for (const query::Column& column : definition.schema)
    parts.push_back(quoted_if_needed(column.name) + " " + sql::to_string(column.type));
  if (!definition.primary_key.empty()) {
    std::vector<std::string> key;
    for (const std::string& column : definition.primary_key)
      key.push_back(quoted_if_needed(column));
    parts.push_back(fmt::format("PRIMARY KEY ({})", fmt::join(key, ", ")));
  }
  return fmt::format("CREATE TABLE {} ({});\n", quoted_if_needed(name), fmt::join(parts, ", "));
}

std::string extents_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += fmt::format("[{}]", extent);
  return text;
}

std::string_view element_name(DType dtype) {
  switch (dtype) {
    case DType::f32: return "FLOAT";
    case DType::i64: return "BIGINT";
    case DType::boolean: return "BOOLEAN";
    case DType::f64: break;
  }
  return "DOUBLE";
}

std::string tensor_text(const Snapshot& snapshot, const std::string& name) {
  const StoredInfo info = snapshot.info(name);
  if (!info.shape || info.type.columns.size() != 1)
    return fmt::format("-- {} {}\n", quoted_if_needed(name), to_string(info.type));
  return fmt::format("-- TENSOR {} {} TILE {} OF {}\n", quoted_if_needed(name),
                     extents_text(*info.shape), extents_text(info.type.columns[0].type.shape),
                     to_string(info.type.columns[0].type.dtype));
}

std::string virtual_text(const session::VirtualTensor& tensor, const std::string& name) {
  const query::TensorType& type = tensor.type;
  return fmt::format("CREATE TENSOR {} {} OF {} TILE {}{} VIRTUAL;\n", quoted_if_needed(name),
                     extents_text(type.shape), element_name(type.dtype), extents_text(type.tile),
                     tensor.partition_by.empty()
                         ? ""
                         : fmt::format(" PARTITION BY ({})", fmt::join(tensor.partition_by, ", ")));
}

std::string text_of(StoredDefinitions& catalogue, const Snapshot& snapshot,
                    const std::string& name) {
  switch (*catalogue.kind(name)) {
    case StoredDefinitions::Kind::table: return table_text(catalogue, name);
    case StoredDefinitions::Kind::tensor: return tensor_text(snapshot, name);
    case StoredDefinitions::Kind::virtual_tensor:
      return virtual_text(*catalogue.virtual_tensor(name), name);
    case StoredDefinitions::Kind::view: {
      std::vector<std::string> columns = catalogue.view(name)->columns;
      for (std::string& column : columns) column = quoted_if_needed(column);
      return fmt::format("CREATE VIEW {}{} AS {};\n", quoted_if_needed(name),
                         columns.empty() ? "" : fmt::format(" ({})", fmt::join(columns, ", ")),
                         catalogue.view_query(name));
    }
    case StoredDefinitions::Kind::versions: break;
  }
  std::string text;
  for (const query::VersionRule& rule : *catalogue.rules(name)) text += rule.text() + ";\n";
  return text;
}

}  // namespace

std::string schema_text(const Database& database, const std::string& name) {
  const Snapshot snapshot = database.snapshot();
  StoredDefinitions catalogue(snapshot);
  if (!name.empty()) {
    TESSERA_REQUIRE(TypeError, catalogue.kind(name), "\"{}\" not found; {}", name,
                    catalogue.instead_of(name));
    return text_of(catalogue, snapshot, catalogue.exact_name(name));
  }
  std::string text, views;  // which read the others, and so come after them
  for (const auto& [one, kind] : catalogue.all())
    (kind == StoredDefinitions::Kind::view ? views : text) += text_of(catalogue, snapshot, one);
  return text + views;
}

}  // namespace tessera::shell
