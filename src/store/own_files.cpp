#include "store/own_files.h"

#include "base/check.h"
#include "base/outside.h"
#include "store/commit_log.h"
#include "store/old_catalog.h"

namespace tessera::store {

namespace fs = std::filesystem;

bool has_catalogue(const fs::path& folder) {
  return CommitLog::is_there(folder) || has_old_catalogue(folder);
}

void refuse_own_folder(const fs::path& folder, const std::string& file) {
  const bool is_own = has_catalogue(folder) ||
                      (folder.filename() == "segments" && has_catalogue(folder.parent_path()));
  TESSERA_REQUIRE(IoError, !is_own,
                  "cannot write {}: {} belongs to a database; choose another folder", file,
                  folder.string());
}

fs::path without_links(const fs::path& path) {
  fs::path found = fs::absolute(path);
  if (fs::exists(found)) return fs::canonical(found);
  constexpr int most = 40;  // as many as the system follows
  for (int i = 0; i < most && fs::is_symlink(fs::symlink_status(found)); ++i)
    found = found.parent_path() / fs::read_symlink(found);
  return found;
}

void require_foreign_output(const std::string& file, const ExternalAccess& access) {
  require_output(file, access);
  try {
    const fs::path folder = without_links(file).parent_path();
    if (fs::is_directory(folder)) refuse_own_folder(fs::canonical(folder), file);
  } catch (const fs::filesystem_error&) {
    // What cannot be looked at cannot be opened either; a pipe is in no folder.
  }
}

}  // namespace tessera::store
