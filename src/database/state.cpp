#include "database/state.h"

#include "base/check.h"
#include "database/names.h"

namespace tessera {

using store::Catalog;
using store::Definition;
using store::StoredRelation;

Catalog Database::State::reader() const {
  return {folder, options.read_only ? Catalog::Mode::read : Catalog::Mode::write, sync};
}

void Database::State::refuse_if_read_only() const {
  TESSERA_REQUIRE(IoError, !options.read_only, "{} is open for reading only", folder.string());
}

WriteStatement Database::State::writer(std::int64_t stride, const std::stop_token& stop) const {
  refuse_if_read_only();
  return {folder, options.lock_seconds, compression(), stride, sync, stop};
}

store::Compression Database::State::compression() const {
  return options.compress ? store::Compression::zstd : store::Compression::none;
}

/// A vacuum may move it between the look at the catalogue and the opening of its files: then the
/// catalogue says where it is.
std::shared_ptr<const StoredRelation> Database::State::stored(const std::string& name) const {
  Catalog catalog = reader();
  Definition definition = find_stored(catalog, folder, name);
  for (;;) {
    try {
      return std::make_shared<const StoredRelation>(folder, definition);
    } catch (const IoError&) {
      Definition now = find_stored(catalog, folder, name);
      if (now.directories == definition.directories) throw;
      definition = std::move(now);
    }
  }
}

}  // namespace tessera
