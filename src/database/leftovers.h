#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "store/catalog_file.h"

namespace tessera {

/// What statements have left in the segments' folder that did not end well: files that the
/// catalogue does not know, and bytes behind those that count. Of a statement that is still under
/// way it looks the same: only who has the write lock may remove it.
struct Leftovers {
  std::vector<std::filesystem::path> files;
  std::vector<std::pair<std::filesystem::path, std::int64_t>> tails;  // and the length that counts
  bool none() const { return files.empty() && tails.empty(); }
};
Leftovers find_leftovers(const std::filesystem::path& database, const store::Catalog& catalog);

/// Removes them, if there are any, and mends the catalogue if one of its files was left behind the
/// other. The write lock is held.
void remove_leftovers(const std::filesystem::path& database, store::CatalogFile& catalog);

/// The same if nobody writes now, for who has opened a database and writes nothing yet.
void remove_leftovers_if_idle(const std::filesystem::path& database, store::CatalogFile& catalog);

}  // namespace tessera
