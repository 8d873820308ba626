#pragma once

#include "database/statement.h"
#include "store/stored_relation.h"
#include "tessera/database.h"

namespace tessera {

struct Database::State {
  std::filesystem::path folder;
  DatabaseOptions options;

  store::Catalog reader() const;
  WriteStatement writer() const;  // IoError if the database is open for reading only

  /// TypeError, with a list of what is there, if it is not.
  store::Definition find(store::Catalog& catalog, const std::string& name) const;
  /// The relation as it is now.
  std::shared_ptr<const store::StoredRelation> stored(const std::string& name) const;
};

void check_name(const std::string& name);
void refuse_taken(store::Catalog& catalog, const std::string& name);

}  // namespace tessera
