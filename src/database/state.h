#pragma once

#include "database/relation_writer.h"
#include "database/statement.h"
#include "store/stored_relation.h"
#include "tessera/database.h"

namespace tessera {

struct Database::State {
  std::filesystem::path folder;
  DatabaseOptions options;

  store::Catalog reader() const;
  void refuse_if_read_only() const;  // IoError
  WriteStatement writer(std::int64_t stride = 1) const;
  store::Compression compression() const;

  /// Stores a relation whose tuples `write` writes, all or, on a cluster, those of this process. It
  /// says what the whole is; `what` it will be is compared between the processes.
  void store(const std::string& name, const std::string& what,
             const std::function<TupleSet<TileType>(RelationWriter&)>& write,
             const std::function<void(store::Catalog&)>& remember);

  /// TypeError, with a list of what is there, if it is not.
  store::Definition find(store::Catalog& catalog, const std::string& name) const;
  /// The relation as it is now.
  std::shared_ptr<const store::StoredRelation> stored(const std::string& name) const;
};

void check_name(const std::string& name);
void refuse_taken(store::Catalog& catalog, const std::string& name);

}  // namespace tessera
