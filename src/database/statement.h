#pragma once

#include <filesystem>
#include <functional>

#include "database/write_lock.h"
#include "store/catalog.h"

namespace tessera {

/// A statement that changes a database, from the first tile to the commit. If it ends in any other
/// way, nothing has happened.
class WriteStatement {
 public:
  WriteStatement(const std::filesystem::path& database, double lock_seconds,
                 store::Compression compression);

  store::Catalog& catalog() { return catalog_; }

  /// Appends the tiles of a tuple; any thread may. What is not committed is taken back.
  store::Entry append(const Key& key, const std::vector<Tile>& tiles);
  /// Appends a directory of what was appended.
  store::Address append(const store::Directory& directory);

  /// What is appended from here on does not share a segment with what is there.
  void start_new_segment();

  /// Brings everything to disk and then, in one transaction, changes the catalogue.
  void commit(const std::function<void(store::Catalog&)>& change);

 private:
  void settle(const IoError& failure);

  const std::filesystem::path database_;
  const store::Compression compression_;
  WriteLock lock_;
  store::Catalog catalog_;
  std::unique_ptr<store::SegmentWriter> segments_;
};

}  // namespace tessera
