#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tessera {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw IoError(fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)));
}

/// Calls again what a signal has interrupted.
template <class Call>
auto retried(Call&& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

int opened(const std::filesystem::path& path, int flags, const char* what) {
  const int descriptor = retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
  TESSERA_REQUIRE(IoError, descriptor >= 0 || errno != ELOOP || (flags & O_NOFOLLOW) == 0,
                  "cannot {} {}: it is a symbolic link, and a database must not contain any; "
                  "replace it by the file it points to",
                  what, path.string());
  if (descriptor < 0) fail(what, path);
  return descriptor;
}

/// A file of a database itself: no link, and nothing that one could wait for.
int opened_own(const std::filesystem::path& path, int flags) {
  const int descriptor = opened(path, flags | O_NOFOLLOW | O_NONBLOCK, "open");
  struct stat found {};
  if (::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode)) return descriptor;
  (void)::close(descriptor);
  throw IoError(
      fmt::format("cannot open {}: it is not a regular file, as every file of a database must be",
                  path.string()));
}

}  // namespace

File File::open(const std::filesystem::path& path) {
  return {opened(path, O_RDONLY, "open"), path};
}
File File::open_to_write(const std::filesystem::path& path) {
  return {opened(path, O_RDWR | O_CREAT, "open"), path};
}
File File::open_own(const std::filesystem::path& path) {
  return {opened_own(path, O_RDONLY), path};
}
File File::open_own_to_write(const std::filesystem::path& path) {
  return {opened_own(path, O_RDWR | O_CREAT), path};
}
File File::open_own_to_append(const std::filesystem::path& path) {
  return {opened_own(path, O_RDWR), path};
}
File File::create(const std::filesystem::path& path) {
  return {opened(path, O_RDWR | O_CREAT | O_EXCL, "create"), path};
}

File File::temporary(const std::filesystem::path& folder) {
  const std::string shown = fmt::format("a temporary file in {}", folder.string());
  if (std::optional<File> file = nameless(folder)) {
    file->call(shown);
    return std::move(*file);
  }
  std::string name = (folder / "tessera-XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail("create a temporary file in", folder);
  (void)::unlink(name.c_str());
  return {descriptor, shown};
}

std::optional<File> File::nameless(const std::filesystem::path& folder) {
  // A file's folder is empty where it is named without one.
  const char* place = folder.empty() ? "." : folder.c_str();
  const int descriptor =
      retried([&] { return ::open(place, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666); });
  // The ways in which systems of files, and old kernels, say that they have none.
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
    return std::nullopt;
  if (descriptor < 0) fail("create a file in", folder);
  File file(descriptor, folder);
  if (::access(file.path_of_nameless().c_str(), F_OK) != 0) return std::nullopt;  // no /proc
  return file;
}

std::filesystem::path File::path_of_nameless() const {
  return fmt::format("/proc/self/fd/{}", descriptor_);
}

bool File::take_name(const std::filesystem::path& path) {
  if (::linkat(AT_FDCWD, path_of_nameless().c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) ==
      0)
    return true;
  if (errno != EEXIST) fail("create", path);
  return false;
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) (void)::close(descriptor_);
}

std::size_t File::read_some(std::int64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = retried([&] {
      return ::pread(descriptor_, into.data() + done, into.size() - done,
                     static_cast<off_t>(offset + static_cast<std::int64_t>(done)));
    });
    if (count < 0) fail("read", path_);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void File::read(std::int64_t offset, std::span<std::byte> into) const {
  const std::size_t done = read_some(offset, into);
  TESSERA_REQUIRE(IoError, done == into.size(),
                  "{} ends after {} bytes, but {} were expected at {}: it is truncated",
                  path_.string(), size(), into.size(), offset);
}

void File::write(std::int64_t offset, std::span<const std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = retried([&] {
      return ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                      static_cast<off_t>(offset + static_cast<std::int64_t>(done)));
    });
    if (count == 0) errno = ENOSPC;
    if (count <= 0) fail("write", path_);
    done += static_cast<std::size_t>(count);
  }
}

void File::truncate(std::int64_t bytes) {
  if (retried([&] { return ::ftruncate(descriptor_, static_cast<off_t>(bytes)); }) != 0)
    fail("truncate", path_);
}

/// Only an interrupted call is made again. After any other failure the system may take for written
/// what is not, and would say that all is well when it is asked once more.
void File::sync() {
  if (retried([&] { return ::fdatasync(descriptor_); }) != 0) fail("write out", path_);
}

void File::start_writing(std::int64_t offset, std::int64_t bytes) {
#ifdef SYNC_FILE_RANGE_WRITE
  (void)::sync_file_range(descriptor_, offset, bytes, SYNC_FILE_RANGE_WRITE);  // a hint
#endif
}

bool File::reserve(std::int64_t offset, std::int64_t bytes) noexcept {
  return ::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, offset, bytes) == 0;
}

void File::discard(std::int64_t offset, std::int64_t bytes) noexcept {
  (void)::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
}

void File::start_reading(std::int64_t offset, std::int64_t bytes) const {
  constexpr std::int64_t step = 128 << 10;  // Linux reads no more ahead for one call
  for (std::int64_t done = 0; done < bytes; done += step)
    (void)::posix_fadvise(descriptor_, offset + done, std::min(step, bytes - done),
                          POSIX_FADV_WILLNEED);  // a hint
}

std::int64_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail("look at", path_);
  return static_cast<std::int64_t>(status.st_size);
}

std::int64_t File::room() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail("look at", path_);
  return static_cast<std::int64_t>(status.st_blocks) * 512;
}

void sync_folder(const std::filesystem::path& folder) {
  const File opened_folder = File::open(folder);
  if (retried([&] { return ::fsync(opened_folder.descriptor()); }) != 0) fail("write out", folder);
}

void make_folder(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  fs::path made = whole.has_filename() ? whole : whole.parent_path();
  std::vector<fs::path> holders;  // of what is new, from below
  do {
    holders.push_back(made.parent_path());
    made = made.parent_path();
  } while (!fs::exists(made, error) && made.has_relative_path());
  fs::create_directories(whole, error);
  TESSERA_REQUIRE(IoError, !error, "cannot create {}: {}", folder.string(), error.message());
  for (const fs::path& holder : holders) sync_folder(holder);
  // The lowest that was there may be new as well, of somebody who was killed before this.
  if (::access(made.parent_path().c_str(), R_OK) == 0) sync_folder(made.parent_path());
}

void remove_file(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  TESSERA_REQUIRE(IoError, !error, "cannot remove {}: {}", path.string(), error.message());
}

void rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  TESSERA_REQUIRE(IoError, !error, "cannot rename {} to {}: {}", from.string(), to.string(),
                  error.message());
}

}  // namespace tessera
