#pragma once

#include "database/relation_writer.h"
#include "database/statement.h"
#include "database/temporary_folder.h"
#include "store/catalog_file.h"
#include "store/stored_relation.h"
#include "tessera/database.h"

namespace tessera {

struct Database::State : std::enable_shared_from_this<Database::State> {
  std::shared_ptr<TemporaryFolder> temporary = {};  // goes last
  std::filesystem::path folder;
  DatabaseOptions options;
  bool is_new = false;
  store::Sync sync = store::Sync::always;
  std::shared_ptr<store::CatalogFile> catalog = {};

  /// Options that say who runs: as they do, or else as the database does, or else the default.
  RunOptions filled_in(RunOptions running = {}) const;
  void refuse_if_read_only() const;  // IoError
  WriteStatement writer(std::int64_t stride = 1, const std::stop_token& stop = {}) const;
  store::Compression compression() const;

  Snapshot snapshot_of(std::shared_ptr<const store::Catalog> state);

  /// Makes a change, and stores relations as they are under new names.
  Snapshot change(const Changes& changes,
                  const std::vector<std::pair<std::string, Relation>>& stored,
                  const RunOptions& asked, RunReport* report);

  /// A relation as it is now. TypeError, with a list of what is there, if it is not.
  std::shared_ptr<const store::StoredRelation> stored(const std::string& name);
  /// What is asked of the present state, and asked again if that has changed meanwhile.
  template <class Ask>
  auto of_present(const Ask& ask) {
    for (;;) {
      try {
        return ask(snapshot_of(catalog->now()));
      } catch (const Outdated&) {
      }
    }
  }
};

}  // namespace tessera
