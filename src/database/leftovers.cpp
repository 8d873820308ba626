#include "database/leftovers.h"

#include "base/check.h"
#include "database/write_lock.h"

namespace tessera {

namespace fs = std::filesystem;

Leftovers find_leftovers(const fs::path& database, const store::Catalog& catalog) {
  Leftovers found;
  const auto& known = catalog.segments();
  std::error_code error;
  fs::directory_iterator entry(database / "segments", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string stem = path.stem().string();
    const bool ours = path.extension() == ".seg" && !stem.empty() && stem.size() <= 18 &&
                      stem.find_first_not_of("0123456789") == std::string::npos;
    if (!ours) continue;
    const auto counts = known.find(std::stoll(stem));
    std::error_code gone;
    if (counts == known.end())
      found.files.push_back(path);
    else if (static_cast<std::int64_t>(entry->file_size(gone)) > counts->second && !gone)
      found.tails.emplace_back(path, counts->second);
  }
  TESSERA_REQUIRE(IoError, !error, "cannot read {}: {}", (database / "segments").string(),
                  error.message());
  return found;
}

void remove_leftovers(const fs::path& database, store::CatalogFile& catalog) {
  catalog.mend();
  const Leftovers found = find_leftovers(database, *catalog.now());
  if (found.none()) return;
  // They may belong to a commit that has failed: it must not be found when they are gone.
  catalog.settle();
  for (const fs::path& file : found.files) remove_file(file);
  for (const auto& [file, bytes] : found.tails) File::open_own_to_append(file).truncate(bytes);
}

void remove_leftovers_if_idle(const fs::path& database, store::CatalogFile& catalog) {
  if (find_leftovers(database, *catalog.now()).none() && !catalog.needs_mending()) return;
  try {
    const WriteLock lock(database, 0);
    remove_leftovers(database, catalog);
  } catch (const IoError&) {
    // Somebody writes, or nobody may here, or the disk is not well: they harm no one, and the next
    // statement that writes removes them or says why it cannot.
  }
}

}  // namespace tessera
