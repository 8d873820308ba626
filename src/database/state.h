#pragma once

#include <mutex>

#include "database/relation_writer.h"
#include "database/statement.h"
#include "database/temporary_folder.h"
#include "store/dictionary.h"
#include "store/stored_relation.h"
#include "tessera/database.h"

namespace tessera {

struct Database::State {
  std::unique_ptr<TemporaryFolder> temporary = {};  // goes last
  std::filesystem::path folder;
  DatabaseOptions options;
  store::Sync sync = store::Sync::always;
  std::mutex dictionary_mutex = {};
  store::Dictionary dictionary = {};  // as far as it was needed

  store::Catalog reader() const;
  void refuse_if_read_only() const;  // IoError
  WriteStatement writer(std::int64_t stride = 1, const std::stop_token& stop = {}) const;
  store::Compression compression() const;

  /// Makes a change, and stores relations as they are under new names.
  void change(const Changes& changes, const std::vector<std::pair<std::string, Relation>>& stored,
              const RunOptions& running, RunReport* report);

  /// Gives codes to those that have none.
  std::vector<std::int64_t> add_strings(const std::vector<std::string>& strings);

  /// The relation as it is now. TypeError, with a list of what is there, if it is not.
  std::shared_ptr<const store::StoredRelation> stored(const std::string& name) const;
};

}  // namespace tessera
