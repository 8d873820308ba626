#pragma once

#include <mutex>

#include "database/statement.h"
#include "tra/statistics.h"

namespace tessera {

/// Stores a relation tuple by tuple, as part of a statement. The tuples may come in any order; what
/// is held of them is where they are and what is known of them, not their tiles.
class RelationWriter {
 public:
  explicit RelationWriter(WriteStatement& statement) : statement_(statement) {}

  /// Any thread may call.
  void add(const Key& key, const std::vector<Tile>& tiles);

  /// What was added, in order of the keys. PlanError if a key came twice.
  const std::vector<store::Entry>& entries();

  /// What the catalogue is to say, once all are there. PlanError if a key came twice. Whether it is
  /// a tensor cut into tiles is seen from the tiles.
  store::Definition finish(const std::string& name, const RelationType& type,
                           const TypesAt& absent_types);
  /// The same of a relation that is known to be such a tensor, which may have no tiles at all.
  store::Definition finish(const std::string& name, const RelationType& type,
                           const std::optional<store::Edges>& edges);

 private:
  WriteStatement& statement_;
  StatisticsBuilder statistics_;
  std::mutex mutex_;
  store::Directory directory_;
};

}  // namespace tessera
