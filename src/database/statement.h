#pragma once

#include <filesystem>
#include <functional>

#include "database/appender.h"
#include "database/write_lock.h"
#include "store/catalog_file.h"

namespace tessera {

/// A statement that changes a database, from the first tile to the commit. If it ends in any other
/// way, nothing has happened.
class WriteStatement {
 public:
  /// `stride`: between the numbers of the segments it makes, where others make those in between.
  WriteStatement(const std::filesystem::path& database, store::CatalogFile& catalog,
                 double lock_seconds, store::Compression compression, std::int64_t stride = 1,
                 store::Sync sync = store::Sync::always, const std::stop_token& stop = {});

  const store::Catalog& catalog() const { return *catalog_; }                      // as it is now
  const std::shared_ptr<const store::Catalog>& state() const { return catalog_; }  // the same
  void remove_leftovers();
  /// What is appended and not committed is taken back.
  Appender& appender() { return *appender_; }

  /// What is appended from here on does not share a segment with what is there.
  void start_new_segment();

  /// Brings everything to disk and then, in one commit, changes the catalogue.
  void commit(const std::function<void(store::Catalog&)>& change);

 private:
  const std::filesystem::path database_;
  const store::Compression compression_;
  const store::Sync sync_;
  WriteLock lock_;
  store::CatalogFile& file_;
  std::shared_ptr<const store::Catalog> catalog_;
  std::unique_ptr<Appender> appender_;
};

}  // namespace tessera
