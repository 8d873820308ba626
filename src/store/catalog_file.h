#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/catalog.h"
#include "store/commit_log.h"

namespace tessera::store {

/// The catalogue of a database on disk, and the state that was last read of it. For any thread.
class CatalogFile {
 public:
  CatalogFile(const std::filesystem::path& database, Sync sync);

  /// The state after the last commit of any process. IoError if it is damaged, or none of ours.
  std::shared_ptr<const Catalog> now();

  // For who has the lock.

  /// Makes a commit of the changes that were made to a copy of `now`, and returns the new state.
  /// IoError: it has not happened; CommitInDoubt: that is not known.
  std::shared_ptr<const Catalog> commit(Catalog&& changed);
  /// Writes the files anew if one of them lacks something, or is seen to be damaged.
  void mend();
  bool needs_mending();
  /// From here on no commit is found that `now` does not know.
  void settle();
  /// Makes the files as small as they can be, if much of them says nothing any more.
  void compact();

  /// What is damaged though it can be read.
  std::vector<std::string> damage();

 private:
  void read();
  void rewrite();

  std::mutex mutex_;
  const std::filesystem::path database_;
  CommitLog log_;
  std::shared_ptr<const Catalog> state_;
  std::int64_t image_bytes_ = 0;  // of the last image that was read or written
};

}  // namespace tessera::store
