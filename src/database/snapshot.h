#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "database/state.h"
#include "store/string_block.h"

namespace tessera {

struct Snapshot::State {
  State(std::shared_ptr<Database::State> of, std::shared_ptr<const store::Catalog> state)
      : database(std::move(of)), catalog(std::move(state)) {}

  const std::shared_ptr<Database::State> database;
  const std::shared_ptr<const store::Catalog> catalog;
  mutable std::mutex mutex = {};
  mutable std::atomic<bool> outdated = false;
  /// The relations that were asked for, with their files open as long as the snapshot lives.
  mutable std::map<std::string, std::shared_ptr<const store::StoredRelation>> opened = {};
  mutable std::map<std::string, store::Strings> strings = {};  // of relations, once they were read

  /// With the files that hold its tiles open. Outdated if it is not there any more.
  std::shared_ptr<const store::StoredRelation> open(const std::string& name) const;
};

StoredInfo info_of(const store::Definition& definition);

}  // namespace tessera
