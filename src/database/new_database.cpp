#include "database/new_database.h"

#include "base/check.h"
#include "database/write_lock.h"
#include "store/catalog.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// Whether nothing is there but what making a database begins with. Segments without a catalogue
/// are not such a thing: somebody has lost the catalogue, and may find it again.
bool is_free(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error) && !error) return true;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool begun = name == "lock" || name.starts_with(store::unfinished_catalogue) ||
                       (name == "segments" && fs::is_empty(entry->path(), error));
    if (!begun) return false;
  }
  return !error;
}

}  // namespace

bool has_catalogue(const fs::path& folder) {
  std::error_code error;
  const bool there = fs::exists(folder / "catalog.sqlite", error);
  TESSERA_REQUIRE(IoError, !error, "cannot look into {}: {}", folder.string(), error.message());
  return there;
}

void make_database(const fs::path& folder, double lock_seconds, store::Sync sync) {
  TESSERA_REQUIRE(IoError, is_free(folder) || has_catalogue(folder),
                  "{} is not a Tessera database, and is not empty: choose another name",
                  folder.string());
  std::error_code error;
  if (sync == store::Sync::always)
    make_folder(folder / "segments");
  else
    fs::create_directories(folder / "segments", error);
  TESSERA_REQUIRE(IoError, !error, "cannot make {}: {}", (folder / "segments").string(),
                  error.message());
  const WriteLock lock(folder, lock_seconds);
  if (!has_catalogue(folder)) store::Catalog::create(folder, sync);
}

void upgrade_database(const fs::path& folder, double lock_seconds) {
  try {
    const WriteLock lock(folder, lock_seconds);
    store::Catalog(folder, store::Catalog::Mode::write).upgrade();
  } catch (const IoError& error) {
    throw IoError(
        fmt::format("{} was written by an older version, and must be brought to this one before it "
                    "is written to: {}; it can be opened for reading only",
                    folder.string(), error.what()));
  }
}

}  // namespace tessera
