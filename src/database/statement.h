#pragma once

#include <filesystem>
#include <functional>

#include "database/appender.h"
#include "database/write_lock.h"
#include "store/catalog.h"

namespace tessera {

/// A statement that changes a database, from the first tile to the commit. If it ends in any other
/// way, nothing has happened.
class WriteStatement {
 public:
  /// `stride`: between the numbers of the segments it makes, where others make those in between.
  WriteStatement(const std::filesystem::path& database, double lock_seconds,
                 store::Compression compression, std::int64_t stride = 1,
                 store::Sync sync = store::Sync::always, const std::stop_token& stop = {});

  store::Catalog& catalog() { return catalog_; }
  /// What is appended and not committed is taken back.
  Appender& appender() { return *appender_; }

  /// What is appended from here on does not share a segment with what is there.
  void start_new_segment();

  /// Brings everything to disk and then, in one transaction, changes the catalogue.
  void commit(const std::function<void(store::Catalog&)>& change);

 private:
  void settle(const IoError& failure);

  const std::filesystem::path database_;
  const store::Compression compression_;
  const store::Sync sync_;
  WriteLock lock_;
  store::Catalog catalog_;
  std::unique_ptr<Appender> appender_;
};

}  // namespace tessera
