#pragma once

#include "query/lowering/evaluation.h"
#include "query/tensors/tensor.h"
#include "query/versions/unrolled.h"
#include "tessera/database.h"

namespace tessera::session {

/// What the database knows of a table besides its tuples.
struct TableDefinition {
  query::Schema schema;
  std::vector<query::Table::ColumnOrigin> origins;  // where its columns are, once there are tuples
  std::vector<std::string> primary_key = {};
  std::string sources = {};  // of a materialised version: what it was computed of
};
std::string to_text(const TableDefinition& definition);
TableDefinition definition_of(const std::string& text);

/// A tensor that has a type but no elements: to plan with.
struct VirtualTensor {
  query::TensorType type;
  std::vector<int> partition_by = {};  // the dimensions by which its tiles are spread over sites

  query::Tensor tensor(const std::string& name) const;
};
std::string to_text(const VirtualTensor& tensor);

// Where definitions are among the texts of a database. Those of versions that are stored have a
// room of their own, as their relations have: no table is called like one.
std::string table_text(const std::string& name);
std::string view_text(const std::string& name);
std::string virtual_text(const std::string& name);
bool is_definition(const std::string& text);       // or else what somebody keeps beside them
std::string rule_texts(const std::string& table);  // what all of a table begin with
std::string rule_text(const std::string& table, std::size_t number);

/// The relation that a version is stored as, by its name in SQL, as in f[5]; and back.
std::string version_relation(const std::string& version);
bool is_version(const std::string& relation);

// What statements that run in several frames keep there until they are done.
std::string job_relations(const std::string& job);  // what the names of all of them begin with
std::string job_relation(const std::string& job, std::int64_t op);
std::string job_text(const std::string& job);
bool is_of_job(const std::string& relation);

/// The definitions of a database as they are when it is made. Names do not tell case apart, unless
/// there are several that differ in nothing else.
class StoredDefinitions : public query::Definitions {
 public:
  explicit StoredDefinitions(const Snapshot& snapshot);

  std::optional<query::Schema> stored(const std::string& name) override;
  std::string exact_name(const std::string& name) override;
  std::optional<query::Resolver::View> view(const std::string& name) override;
  const std::vector<query::VersionRule>* rules(const std::string& name) override;
  std::optional<std::string> materialised(const std::string& version) override;
  bool has_version(const std::string& relation) const {
    return is_version(relation) && texts_.contains(table_text(relation));
  }
  bool has_materialised(const std::string& table) override { return !versions_of(table).empty(); }
  std::string instead_of(const std::string& name) override;

  enum class Kind { table, tensor, virtual_tensor, view, versions };
  std::optional<Kind> kind(const std::string& name) const;
  std::vector<std::pair<std::string, Kind>> all() const;  // materialised versions left out
  /// The definition of a table that was made by SQL; of any other relation, what follows from it.
  const TableDefinition& table(const std::string& name);
  bool has_tuples(const std::string& name) const { return relations_.contains(name); }
  std::optional<VirtualTensor> virtual_tensor(const std::string& name) const;
  /// The table as it is in the database.
  query::Value value(const std::string& name);
  /// The relations of materialised versions.
  std::vector<std::string> versions_of(const std::string& table) const;
  /// From here on a version is what its rule says, though it is stored.
  void overlook(const std::string& version) {
    texts_.erase(table_text(version_relation(version)));
    tables_.erase(version_relation(version));
  }
  std::size_t next_rule(const std::string& table) const;
  std::string view_query(const std::string& name) const;

 private:
  std::optional<std::string> find(const std::string& name) const;
  TableDefinition read_table(const std::string& name) const;

  const Snapshot snapshot_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, Kind> kinds_;
  std::map<std::string, bool> relations_;
  std::map<std::string, std::vector<query::VersionRule>> rules_;
  std::map<std::string, query::Resolver::View> views_;
  std::map<std::string, TableDefinition> tables_;  // that were asked for
};

}  // namespace tessera::session
