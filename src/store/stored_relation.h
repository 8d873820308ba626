#pragma once

#include <memory>
#include <unordered_map>

#include "store/catalog.h"
#include "store/string_block.h"
#include "tessera/plan.h"

namespace tessera::store {

/// A relation on disk, as it was when it was opened: it has the files that hold its tiles open, so
/// that they can be read whatever happens to the database meanwhile. Any thread may read.
class StoredRelation {
 public:
  /// IoError if a file is missing or a directory damaged.
  StoredRelation(const std::filesystem::path& database, Definition definition);

  const Definition& definition() const { return definition_; }
  const std::vector<Entry>& entries() const { return directory_.entries; }
  const std::shared_ptr<const TupleSet<TileType>>& tuples() const { return tuples_; }
  SourceFacts facts() const;

  const Entry* find(const Key& key) const;       // null if the key is absent
  std::vector<Tile> read(const Key& key) const;  // TypeError if the key is absent
  std::vector<Tile> read(const Entry& entry) const;
  Strings strings() const;  // whose codes its columns hold

 private:
  Definition definition_;
  Directory directory_;  // of all parts, in order of the keys
  std::unordered_map<std::int64_t, std::shared_ptr<const File>> files_;
  std::shared_ptr<const TupleSet<TileType>> tuples_;
};

}  // namespace tessera::store
