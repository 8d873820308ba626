#include "database/replacement.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "base/check.h"
#include "database/write_through.h"
#include "store/own_files.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// Short, as the name of the file may be as long as names can be, and nobody else's.
fs::path new_name(const fs::path& folder) {
  std::random_device random;
  return folder / fmt::format(".tessera-{:08x}{:08x}", random(), random());
}

fs::path folder_of(const fs::path& path) { return fs::absolute(path).parent_path(); }

}  // namespace

Replacement::Replacement(const std::string& target, const ExternalAccess& access,
                         std::stop_token stop)
    : name_(target), stop_(std::move(stop)) {
  require_output(name_, access);
  struct stat there {};
  if (::stat(target.c_str(), &there) == 0)
    replaced_ = there;
  else
    TESSERA_REQUIRE(IoError, errno == ENOENT, "cannot write {}: {}", name_, std::strerror(errno));
  TESSERA_REQUIRE(IoError, !replaced_ || !S_ISDIR(there.st_mode), "cannot write {}: it is a folder",
                  name_);
  through_ = replaced_ && (!S_ISREG(there.st_mode) || descriptor_of(target));
  try {
    if (through_) {
      require_all_outputs(name_, access);
      target_ = target;
      const fs::path folder = fs::temp_directory_path();
      file_.emplace(File::temporary(folder));
      output_ = {name_, file_->path_of_nameless(), folder};
      return;
    }
    target_ = store::without_links(target);
  } catch (const fs::filesystem_error& error) {
    throw IoError(fmt::format("cannot write {}: {}", name_, error.code().message()));
  }
  // From here on it is that folder, whatever becomes of the links that led to it.
  folder_ = output_folder(folder_of(target_), name_, access);
  target_ = folder_.path / target_.filename();
  const fs::path& folder = folder_.path;
  store::refuse_own_folder(folder_.real, name_);
  file_ = File::nameless(folder);
  if (!file_) {
    temporary_ = new_name(folder);
    file_.emplace(File::create(temporary_));
  }
  file_->call(name_);
  output_ = {name_, temporary_.empty() ? file_->path_of_nameless() : temporary_, folder};
}

Replacement::~Replacement() {
  if (temporary_.empty()) return;
  std::error_code none;
  (void)fs::remove(temporary_, none);
}

std::int64_t Replacement::keep() {
  if (through_)
    write_through(*file_, target_, stop_);
  else
    take_place();
  return file_->size();
}

void Replacement::take_place() {
  if (replaced_) {
    // Whose it is first: a change of that takes bits of the mode away. Who may not give it away
    // keeps it.
    const bool same_owner =
        ::fchown(file_->descriptor(), replaced_->st_uid, replaced_->st_gid) == 0;
    const mode_t kept = replaced_->st_mode & (same_owner ? 07777 : 0777);
    TESSERA_REQUIRE(IoError, ::fchmod(file_->descriptor(), kept) == 0,
                    "cannot set the permissions of {}: {}", name_, std::strerror(errno));
  }
  file_->sync();
  if (temporary_.empty()) {
    if (!replaced_ && file_->take_name(target_)) {
      sync_name();
      return;
    }
    // A name cannot be given in the place of another file, but that of one can.
    fs::path name;
    do name = new_name(folder_of(target_));
    while (!file_->take_name(name));
    temporary_ = name;
  }
  rename_file(temporary_, target_);
  temporary_.clear();
  sync_name();
}

/// The file has its name by now, whatever the disk says.
void Replacement::sync_name() const {
  try {
    sync_folder(folder_of(target_));
  } catch (const IoError& error) {
    throw IoError(
        fmt::format("{}; {} is written, but it is not known whether it survives a power failure: "
                    "write it again when the disk works",
                    error.what(), name_));
  }
}

}  // namespace tessera
