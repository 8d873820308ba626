#pragma once

#include <set>

#include "database/written_parts.h"
#include "store/stored_relation.h"
#include "tessera/database.h"

namespace tessera {

using NamedRelations = std::vector<std::pair<std::string, Relation>>;

/// What a change makes of the catalogue: names, and what is known of the relations that it stores.
class CatalogUpdate {
 public:
  /// `stored`: relations that are stored as they are, under new names; `since`: the state that the
  /// change was thought of for. TypeError if what is there does not allow the change, or Outdated,
  /// before anything is computed.
  CatalogUpdate(const std::filesystem::path& database, const store::Catalog& catalog,
                const Changes& changes, const NamedRelations& stored, const store::Catalog* since);

  /// Everything is written, by all processes: the results of plans, then `stored`, then what is
  /// appended. `wholes` says what each of these is.
  void complete(const std::vector<Written>& written, const std::vector<TupleSet<TileType>>& wholes,
                Appender& appender);

  void apply(store::Catalog& catalog) const;  // inside the transaction that commits it

 private:
  void change_names(store::Catalog& catalog) const;
  void add(const std::string& name, store::Definition definition);
  void keep_strings(const std::string& name, const std::vector<StoredPart>& parts,
                    Appender& appender);
  void append(const std::string& name, const Relation& more, const std::vector<StoredPart>& parts,
              Appender& appender);

  const std::filesystem::path& database_;
  const Changes& changes_;
  std::vector<std::string> new_names_;
  std::map<std::string, std::shared_ptr<const store::StoredRelation>> bases_;  // of appends
  std::map<std::string, store::Definition> added_, updated_;
};

}  // namespace tessera
