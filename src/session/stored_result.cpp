#include "session/stored_result.h"

#include "session/stored_definitions.h"

namespace tessera::session {

using query::Schema;
using query::Value;

std::optional<Stored> to_store(const Value& value, const Schema& schema,
                               query::Dictionary& dictionary, const RunOptions& run,
                               const std::vector<std::string>& primary_key) {
  std::vector<int> keys;
  for (const std::string& column : primary_key)
    for (std::size_t c = 0; c < schema.size(); ++c)
      if (query::same_name(schema[c].name, column)) keys.push_back(static_cast<int>(c));
  query::Table table = value.rows ? query::table_of(*value.rows, dictionary, run, keys)
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

void store_as_version(const std::string& version, const Value& value, const std::string& sources,
                      const StoredDefinitions& catalogue, query::Dictionary& dictionary,
                      const RunOptions& run, Changes& changes) {
  const std::string relation = version_relation(version), text_name = table_text(relation);
  if (changes.texts.contains(text_name)) return;  // the statement names it twice
  const Schema& schema = value.table ? value.table->schema : value.rows->schema;
  const auto stored = to_store(value, schema, dictionary, run);
  if (catalogue.has_tuples(relation)) changes.dropped.push_back(relation);
  if (stored) add_result(changes, relation, *stored);
  TableDefinition definition = stored ? definition_of(stored->text) : TableDefinition{schema, {}};
  definition.sources = sources;
  changes.texts[text_name] = to_text(definition);
}

}  // namespace tessera::session
