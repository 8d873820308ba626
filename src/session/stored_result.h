#pragma once

#include "lang/sql/ast.h"
#include "query/lowering/evaluation.h"
#include "tessera/database.h"

// How results of queries are stored: as relations, with texts that say what they are.

namespace tessera::session {

class StoredDefinitions;

/// What the database holds of a table, and the text that defines it.
struct Stored {
  Plan plan;
  std::string text;
  std::vector<int> text_columns;  // of the relation
};
/// None if there are no rows. `run`: what says who makes the statement.
std::optional<Stored> to_store(const query::Value& value, const query::Schema& schema,
                               query::Dictionary& dictionary, const RunOptions& run,
                               const std::vector<std::string>& primary_key = {});
std::vector<int> text_columns(const query::Schema& schema,
                              const std::vector<query::Table::ColumnOrigin>& origins);
void add_result(Changes& changes, const std::string& name, const Stored& stored);

/// Stores a value as the table that CREATE TABLE ... AS makes. TypeError if its columns do not fit.
void store_as_table(const sql::CreateTable& statement, const query::Value& value,
                    query::Dictionary& dictionary, const RunOptions& run, Changes& changes);
/// Stores a version of a table in place of what it was before; nothing if that is done already.
/// `sources`: what the version was computed from.
void store_as_version(const std::string& version, const query::Value& value,
                      const std::string& sources, const StoredDefinitions& catalogue,
                      query::Dictionary& dictionary, const RunOptions& run, Changes& changes);

}  // namespace tessera::session
