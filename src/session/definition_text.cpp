#include "session/definition_text.h"

#include <algorithm>

#include "base/check.h"
#include "query/rows/schema.h"
#include "store/json_fields.h"

// The definitions of tables as texts that a database keeps, and back.

namespace tessera::session {
namespace {

using nlohmann::json;
using store::integer_of;

json type_json(const sql::Type& type) {
  json written{{"kind", static_cast<int>(type.kind)}};
  if (type.kind == sql::Type::Kind::tensor) {
    written["element"] = std::string(to_string(type.element));
    written["shape"] = std::vector<std::int64_t>(type.shape.begin(), type.shape.end());
  }
  return written;
}

sql::Type type_in(const json& written) {
  constexpr auto last = static_cast<std::int64_t>(sql::Type::Kind::tensor);
  sql::Type type{static_cast<sql::Type::Kind>(integer_of(written.at("kind"), 0, last))};
  if (type.kind != sql::Type::Kind::tensor) return type;
  type.element = parse_dtype(written.at("element").get<std::string>());
  for (const json& extent : written.at("shape")) type.shape.push_back(integer_of(extent, 0));
  return type;
}

std::optional<query::Table::ColumnOrigin> origin_in(const json& column) {
  if (column.contains("key")) return KeyExpr::parse(column.at("key").get<std::string>());
  if (column.contains("payload"))
    return static_cast<int>(integer_of(column.at("payload"), 0, INT32_MAX));
  return std::nullopt;
}

/// Columns of integers, as a key is made of.
std::vector<std::string> primary_key_in(const json& written, const query::Schema& schema) {
  std::vector<std::string> key = written.get<std::vector<std::string>>();
  for (const std::string& part : key)
    TESSERA_REQUIRE(IoError,
                    std::any_of(schema.begin(), schema.end(),
                                [&](const query::Column& column) {
                                  return query::same_name(column.name, part) &&
                                         query::is_integer(column.type);
                                }),
                    "primary key column \"{}\" is not an integer column", part);
  return key;
}

}  // namespace

std::string to_text(const TableDefinition& definition) {
  json columns = json::array();
  for (std::size_t c = 0; c < definition.schema.size(); ++c) {
    json column{{"name", definition.schema[c].name},
                {"type", type_json(definition.schema[c].type)}};
    if (c < definition.origins.size()) {
      if (const auto* key = std::get_if<KeyExpr>(&definition.origins[c]))
        column["key"] = key->to_string();
      else
        column["payload"] = std::get<int>(definition.origins[c]);
    }
    columns.push_back(std::move(column));
  }
  json written{{"columns", columns}, {"primary_key", definition.primary_key}};
  if (!definition.sources.empty()) written["sources"] = definition.sources;
  return written.dump();
}

TableDefinition definition_of(const std::string& text) {
  TableDefinition definition;
  const json written = json::parse(text);
  for (const json& column : written.at("columns")) {
    definition.schema.push_back({column.at("name").get<std::string>(), type_in(column.at("type"))});
    if (auto origin = origin_in(column)) definition.origins.push_back(std::move(*origin));
  }
  TESSERA_REQUIRE(
      IoError, definition.origins.empty() || definition.origins.size() == definition.schema.size(),
      "it gives the positions of {} of {} columns", definition.origins.size(),
      definition.schema.size());
  definition.primary_key = primary_key_in(written.at("primary_key"), definition.schema);
  definition.sources = written.value("sources", "");
  return definition;
}

void check_origins(const TableDefinition& definition, const RelationType& relation,
                   const std::string& whose) {
  store::read_stored(whose, [&] {
    TESSERA_REQUIRE(IoError, definition.origins.size() == definition.schema.size(),
                    "it does not give the positions of its columns");
    for (std::size_t c = 0; c < definition.origins.size(); ++c) {
      const query::Column& column = definition.schema[c];
      if (const auto* of_key = std::get_if<KeyExpr>(&definition.origins[c])) {
        TESSERA_REQUIRE(IoError,
                        of_key->arity() <= relation.arity() && query::is_integer(column.type),
                        "column \"{}\" is computed as {} from keys with {} components", column.name,
                        of_key->to_string(), relation.arity());
        continue;
      }
      const auto payload = static_cast<std::size_t>(std::get<int>(definition.origins[c]));
      const TileType wanted = query::tile_type(column.type);
      TESSERA_REQUIRE(IoError,
                      payload < relation.columns.size() &&
                          relation.columns[payload].type.dtype == wanted.dtype &&
                          relation.columns[payload].type.shape.rank() == wanted.shape.rank(),
                      "column \"{}\" has type {}, which does not match the tiles of {}",
                      column.name, sql::to_string(column.type), to_string(relation));
    }
  });
}

}  // namespace tessera::session
