#include "database/state.h"

#include "base/check.h"
#include "database/snapshot.h"
#include "exec/context.h"

namespace tessera {

using store::StoredRelation;

RunOptions Database::State::filled_in(RunOptions running) const {
  if (!running.engine) running.engine = options.engine;
  running.engine = exec::engine_of(running);
  return running;
}

void Database::State::refuse_if_read_only() const {
  TESSERA_REQUIRE(IoError, !options.read_only, "database \"{}\" is read-only", folder.string());
}

WriteStatement Database::State::writer(std::int64_t stride, const std::stop_token& stop) const {
  refuse_if_read_only();
  return {folder, *catalog, options.lock_seconds, compression(), stride, sync, stop};
}

store::Compression Database::State::compression() const {
  return options.compress ? store::Compression::zstd : store::Compression::none;
}

Snapshot Database::State::snapshot_of(std::shared_ptr<const store::Catalog> state) {
  return Snapshot(std::make_shared<const Snapshot::State>(shared_from_this(), std::move(state)));
}

std::shared_ptr<const StoredRelation> Database::State::stored(const std::string& name) {
  return of_present([&](const Snapshot& present) { return present.state_->open(name); });
}

}  // namespace tessera
