#include "base/outside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const char* what, const std::string& name, const ExternalAccess& access) {
  const std::string said = access.to_string();
  throw IoError(
      said == "off"
          ? fmt::format("cannot {} {}: external_access is off in this session", what, name)
          : fmt::format("cannot {} {}: external_access of this session allows only files in {}",
                        what, name, said));
}

/// What a path leads to, without opening it: that would be more than a look at a device.
class Pinned {
 public:
  Pinned(const fs::path& path, int flags)
      : descriptor_(::open(path.c_str(), O_PATH | O_CLOEXEC | flags)) {}
  ~Pinned() {
    if (is_there()) (void)::close(descriptor_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  bool is_there() const { return descriptor_ >= 0; }
  fs::path path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
  /// Its name without links, as the system knows it; empty where it does not tell.
  fs::path real() const {
    std::error_code none;
    return fs::read_symlink(path(), none);
  }
  bool is_file() const {
    struct stat facts {};
    return ::fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode);
  }

 private:
  int descriptor_;
};

/// What a path leads to, if that may be reached. Of what may not, it is not even told whether it is
/// there.
std::shared_ptr<const Pinned> reached(const fs::path& path, int flags, const char* what,
                                      const std::string& name, const ExternalAccess& access) {
  auto pinned = std::make_shared<const Pinned>(path, flags);
  const int reason = errno;
  std::error_code none;
  const fs::path real =
      pinned->is_there() ? pinned->real() : fs::weakly_canonical(fs::absolute(path, none), none);
  if (!access.allows(real)) refuse(what, name, access);
  TESSERA_REQUIRE(IoError, pinned->is_there(), "cannot {} {}: {}", what, name,
                  std::strerror(reason));
  return pinned;
}

[[noreturn]] void refuse_no_file(const std::string& name) {
  throw IoError(fmt::format(
      "{} is a pipe or a device, and only files can be read: copy its data to a file first", name));
}

}  // namespace

InputFile input_file(const std::string& name, const ExternalAccess& access) {
  if (access.is_on()) {
    std::error_code error;
    if (fs::is_other(fs::status(name, error))) refuse_no_file(name);
    return {name, name};
  }
  const auto pinned = reached(name, 0, "read", name, access);
  if (!pinned->is_file()) refuse_no_file(name);
  return {name, pinned->path(), pinned};
}

File open_to_read(const InputFile& input) {
  File file = File::open(input.path);
  file.call(input.name);
  return file;
}

OutputFolder output_folder(const fs::path& folder, const std::string& file,
                           const ExternalAccess& access) {
  if (access.is_on()) return {folder, folder};
  const auto pinned = reached(folder, O_DIRECTORY, "write", file, access);
  return {pinned->real(), pinned->path(), pinned};
}

void require_output(const std::string& file, const ExternalAccess& access) {
  if (access.is_on()) return;
  std::error_code none;
  if (!access.allows(fs::weakly_canonical(fs::absolute(file, none), none)))
    refuse("write", file, access);
}

void require_all_outputs(const std::string& file, const ExternalAccess& access) {
  if (!access.is_on()) refuse("write", file, access);
}

void require_servers(const ExternalAccess& access) {
  if (!access.is_on()) refuse("connect to", "a server", access);
}

}  // namespace tessera
