#include "session/job_lock.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/check.h"

namespace tessera::session {
namespace {

namespace fs = std::filesystem;

fs::path path_of(const fs::path& database, const std::string& job) {
  return database / fmt::format("job-{}.lock", job);
}

/// False if somebody else has it.
bool try_lock(const File& file, int how) {
  if (::flock(file.descriptor(), how | LOCK_NB) == 0) return true;
  TESSERA_REQUIRE(IoError, errno == EWOULDBLOCK || errno == EINTR, "cannot lock {}: {}",
                  file.path().string(), std::strerror(errno));
  return false;
}

/// Whoever had it before may have removed the file between our opening and our locking it.
bool has_name(const File& file) {
  struct stat facts {};
  return ::fstat(file.descriptor(), &facts) == 0 && facts.st_nlink > 0;
}

}  // namespace

std::optional<JobLock> JobLock::take(const fs::path& database, const std::string& job) {
  // Those who only want to know who has it hold it for a moment.
  constexpr int attempts = 20;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    File file = File::open_own_to_write(path_of(database, job));
    if (!try_lock(file, LOCK_EX)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      continue;
    }
    if (!has_name(file)) continue;
    const std::string process = std::to_string(::getpid());
    file.truncate(0);
    file.write(0, std::as_bytes(std::span(process)));
    return JobLock(std::move(file));
  }
  return std::nullopt;
}

std::optional<std::string> JobLock::holder(const fs::path& database, const std::string& job) {
  const fs::path path = path_of(database, job);
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return std::nullopt;
  const File file = File::open_own(path);
  if (try_lock(file, LOCK_SH)) return std::nullopt;
  std::string process(32, '\0');
  process.resize(file.read_some(0, std::as_writable_bytes(std::span(process))));
  return process.empty() ? "?" : process;
}

JobLock::~JobLock() {
  if (!file_) return;     // somebody else's now
  std::error_code stays;  // an empty file of no meaning
  (void)fs::remove(file_->path(), stays);
}

}  // namespace tessera::session
