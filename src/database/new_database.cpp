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

void make_database(const fs::path& folder, double lock_seconds) {
  TESSERA_REQUIRE(IoError, is_free(folder) || fs::exists(folder / "catalog.sqlite"),
                  "{} is not a Tessera database, and is not empty: choose another name",
                  folder.string());
  make_folder(folder / "segments");
  const WriteLock lock(folder, lock_seconds);
  if (!fs::exists(folder / "catalog.sqlite")) store::Catalog::create(folder);
}

}  // namespace tessera
