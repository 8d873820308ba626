#include "store/catalog_file.h"

#include <chrono>
#include <thread>

#include "base/check.h"
#include "store/old_catalog.h"

namespace tessera::store {
namespace {

/// The files are written anew when they are this much longer than an image: then entries were
/// appended that take as much room.
constexpr std::int64_t longer = 2, least_log = 256 << 10;

}  // namespace

CatalogFile::CatalogFile(const std::filesystem::path& database, Sync sync)
    : database_(database), log_(database, sync) {}

std::shared_ptr<const Catalog> CatalogFile::now() {
  const std::lock_guard lock(mutex_);
  read();
  return state_;
}

/// The mutex is held.
void CatalogFile::read() {
  if (has_old_catalogue(database_)) {
    state_ = std::make_shared<const Catalog>(read_old_catalogue(database_));
    return;
  }
  // Others may hold the state that was read last: it is changed only where nobody else does.
  std::shared_ptr<Catalog> next;
  const auto take = [&](const CommitLog::Entry& entry) {
    if (entry.kind == CommitLog::Kind::image) {
      next = std::make_shared<Catalog>(Catalog::from_image(entry.bytes, entry.number));
      image_bytes_ = static_cast<std::int64_t>(entry.bytes.size());
      return;
    }
    if (!next) {
      TESSERA_REQUIRE(IoError, state_,
                      "the catalogue of {} is damaged: it does not begin with an image",
                      database_.string());
      next = std::make_shared<Catalog>(*state_);
    }
    next->apply(entry.bytes, entry.number);
  };
  try {
    log_.read(take);
  } catch (...) {
    if (next) state_ = std::move(next);  // up to there the log has been read
    throw;
  }
  if (next) state_ = std::move(next);
  TESSERA_REQUIRE(IoError, state_, "the catalogue of {} is empty; restore it from a copy",
                  database_.string());
}

/// The mutex is held.
void CatalogFile::rewrite() {
  const std::string image = state_->image();
  log_.rewrite(image);
  image_bytes_ = static_cast<std::int64_t>(image.size());
}

std::shared_ptr<const Catalog> CatalogFile::commit(Catalog&& changed) {
  const std::lock_guard lock(mutex_);
  read();
  TESSERA_INVARIANT(changed.commit() == state_->commit(), "a change of commit {} after commit {}",
                    changed.commit(), state_->commit());
  if (changed.changes().empty()) return state_;
  if (log_.needs_rewriting()) rewrite();
  const std::string changes = changed.changes();
  log_.append(changes);
  auto next = std::make_shared<Catalog>(std::move(changed));
  next->apply({}, state_->commit() + 1);
  state_ = std::move(next);
  if (log_.bytes() > longer * image_bytes_ + least_log) {
    try {
      rewrite();
    } catch (const IoError&) {
      // The commit has happened. The files stay as they are until they can be written anew.
    }
  }
  return state_;
}

void CatalogFile::mend() {
  const std::lock_guard lock(mutex_);
  read();
  if (log_.needs_rewriting()) rewrite();
}

bool CatalogFile::needs_mending() {
  const std::lock_guard lock(mutex_);
  read();
  return log_.needs_rewriting();
}

void CatalogFile::settle() {
  const std::lock_guard lock(mutex_);
  read();
  log_.settle();
}

void CatalogFile::compact() {
  const std::lock_guard lock(mutex_);
  read();
  if (log_.needs_rewriting() || !log_.damage().empty() ||
      log_.bytes() > image_bytes_ + image_bytes_ / 4 + 4096)
    rewrite();
}

std::vector<std::string> CatalogFile::damage() {
  const std::lock_guard lock(mutex_);
  read();
  if (has_old_catalogue(database_)) return {};
  constexpr int patience = 50;  // times 20 ms, for somebody who writes the files anew
  for (int i = 0; i < patience; ++i) {
    if (!log_.is_being_rewritten()) {
      std::vector<std::string> found = log_.damage();
      if (found.empty() || !log_.is_being_rewritten()) return found;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    read();
  }
  return log_.damage();
}

}  // namespace tessera::store
