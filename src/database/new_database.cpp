#include "database/new_database.h"

#include "base/check.h"
#include "database/write_lock.h"
#include "store/commit_log.h"
#include "store/old_catalog.h"
#include "store/own_files.h"

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
    const bool begun = name == "lock" || store::CommitLog::is_unfinished(name) ||
                       (name == "segments" && fs::is_empty(entry->path(), error));
    if (!begun) return false;
  }
  return !error;
}

}  // namespace

void refuse_links(const fs::path& folder) {
  for (const char* name : {"catalog.sqlite", "segments"}) {
    std::error_code error;
    TESSERA_REQUIRE(IoError, !fs::is_symlink(fs::symlink_status(folder / name, error)),
                    "cannot open {}: it is a symbolic link, and a database must not contain any; "
                    "replace it by the file or folder it points to",
                    (folder / name).string());
  }
}

void refuse_other_files(const fs::path& folder) {
  std::error_code error;
  TESSERA_REQUIRE(IoError, !fs::exists(folder, error) || fs::is_directory(folder, error),
                  "\"{}\" is not a Tessera database: it is a file, and a database is a folder",
                  folder.string());
  TESSERA_REQUIRE(IoError, is_free(folder) || store::has_catalogue(folder),
                  "\"{}\" is not a Tessera database: the folder has other files in it; choose "
                  "another name",
                  folder.string());
}

bool make_database(const fs::path& folder, double lock_seconds, store::Sync sync) {
  std::error_code error;
  // Without its last name, which is empty behind a slash.
  const fs::path parent = (folder / "").parent_path().parent_path();
  TESSERA_REQUIRE(IoError, fs::exists(parent, error) || error,
                  "cannot create database \"{}\": folder \"{}\" does not exist", folder.string(),
                  parent.string());
  error.clear();
  if (sync == store::Sync::always)
    make_folder(folder / "segments");
  else
    fs::create_directories(folder / "segments", error);
  TESSERA_REQUIRE(IoError, !error, "cannot create {}: {}", (folder / "segments").string(),
                  error.message());
  const WriteLock lock(folder, lock_seconds);
  if (store::has_catalogue(folder)) return false;  // somebody else has been faster
  store::CommitLog::create(folder, store::Catalog().image(), sync);
  return true;
}

void upgrade_database(const fs::path& folder, double lock_seconds) {
  try {
    const WriteLock lock(folder, lock_seconds);
    if (store::has_old_catalogue(folder))  // nobody else has been faster
      store::CommitLog::create(folder, store::read_old_catalogue(folder).image(),
                               store::Sync::always);
    store::remove_old_catalogue(folder);
  } catch (const IoError& error) {
    throw IoError(
        fmt::format("cannot upgrade {}, which was written by an older version: {}; it can only be "
                    "opened read-only",
                    folder.string(), error.what()));
  }
}

}  // namespace tessera
