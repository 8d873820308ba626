#include "database/temporary_folder.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "tessera-temporary-";

fs::path place() {
  const char* said = std::getenv("TMPDIR");
  return fs::absolute(said != nullptr && *said != '\0' ? said : "/var/tmp");
}

/// Whether the lock is there at once, on a folder that still has its name.
bool lock(const File& folder, int kind) {
  struct stat status {};
  return ::flock(folder.descriptor(), kind | LOCK_NB) == 0 &&
         ::fstat(folder.descriptor(), &status) == 0 && status.st_nlink > 0;
}

/// Removes what nobody has locked, of this user: others look after their own.
void remove_abandoned(const fs::path& in) {
  std::error_code error;
  for (fs::directory_iterator entry(in, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path path = entry->path();
    struct stat status {};
    const bool ours = path.filename().string().starts_with(prefix) &&
                      ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      status.st_uid == ::geteuid();
    if (!ours) continue;
    try {
      const File folder = File::open(path);
      std::error_code left;
      if (lock(folder, LOCK_EX)) fs::remove_all(path, left);
    } catch (const IoError&) {
      // Somebody else has just removed it. Whoever comes next tries what could not be removed.
    }
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(File folder) : folder_(std::move(folder)), owner_(::getpid()) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : folder_(std::move(other.folder_)), owner_(std::exchange(other.owner_, 0)) {}

TemporaryFolder TemporaryFolder::make() {
  const fs::path in = place();
  remove_abandoned(in);
  for (;;) {
    std::string name = (in / (prefix + std::string("XXXXXX"))).string();
    TESSERA_REQUIRE(IoError, ::mkdtemp(name.data()) != nullptr,
                    "cannot create a folder for a temporary database in {}: {}; set TMPDIR to use "
                    "another place",
                    in.string(), std::strerror(errno));
    // Until it is locked, somebody may take it for abandoned: then another one is made.
    try {
      File folder = File::open(name);
      if (lock(folder, LOCK_SH)) return TemporaryFolder(std::move(folder));
    } catch (const IoError&) {
      std::error_code error;
      if (fs::exists(name, error)) throw;
    }
  }
}

TemporaryFolder TemporaryFolder::join(const fs::path& path) {
  File folder = File::open(path);
  TESSERA_REQUIRE(IoError, lock(folder, LOCK_SH), "the temporary database {} no longer exists",
                  path.string());
  return TemporaryFolder(std::move(folder));
}

/// A lock that cannot become exclusive is lost in trying: of several that leave at once the last
/// one finds no other.
TemporaryFolder::~TemporaryFolder() {
  std::error_code left;  // what cannot be removed now is abandoned
  if (owner_ == ::getpid() && lock(folder_, LOCK_EX)) fs::remove_all(path(), left);
}

}  // namespace tessera
