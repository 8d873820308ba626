#pragma once

#include "query/versions/unrolled.h"

namespace tessera::query {

/// A table that a query reads, once its indices are known.
struct ReferencedTable {
  int table = -1;           // which versioned table; -1: one that is stored
  Indices indices = {};     // of the version
  std::string stored = {};  // the name of a stored table, or of a version that is stored
  Location location = {};
};

/// Finds out what the references in queries stand for.
class ReferencedTables {
 public:
  ReferencedTables(Definitions& definitions, const std::stop_token& stop)
      : definitions_(definitions), stop_(stop) {}

  /// What a query reads: a list for each reference, in order. `names` and `values`: of its indices.
  std::vector<std::vector<ReferencedTable>> read_by(const sql::Query& query,
                                                    const std::vector<std::string>& names,
                                                    const std::vector<std::int64_t>& values);
  /// What the same query reads by one of its references; null if that is none of them.
  const std::vector<ReferencedTable>* of(const sql::TableReference& reference,
                                         const sql::Query& query,
                                         const std::vector<std::vector<ReferencedTable>>& read);
  const std::vector<std::string>& tables() const { return tables_; }  // the versioned ones

 private:
  std::vector<ReferencedTable> tables_of(const sql::TableReference& reference,
                                         const std::vector<std::string>& names,
                                         const std::vector<std::int64_t>& values);
  const std::vector<const sql::TableReference*>& references_of(const sql::Query& query);
  int number_of(const std::string& table);

  Definitions& definitions_;
  const std::stop_token stop_;
  std::vector<std::string> tables_;
  std::int64_t reads_ = 0;
  std::unordered_map<const sql::Query*, std::vector<const sql::TableReference*>> references_;
};

}  // namespace tessera::query
