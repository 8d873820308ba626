#include "database/write_lock.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "base/stop.h"

namespace tessera {
namespace {

/// What stands in a lock file: the process that has the lock, or had it last.
std::string holder_in(const File& file) {
  std::string process(32, '\0');
  process.resize(file.read_some(0, std::as_writable_bytes(std::span(process))));
  return process;
}

}  // namespace

WriteLock::WriteLock(const std::filesystem::path& database, double seconds,
                     const std::stop_token& stop)
    : file_(File::open_own_to_write(database / "lock")) {
  using Clock = std::chrono::steady_clock;
  constexpr double longest = 1e9;  // what a clock can count on from now
  const auto until = Clock::now() + std::chrono::duration<double>(std::min(seconds, longest));
  auto nap = std::chrono::milliseconds(1);
  while (::flock(file_.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    TESSERA_REQUIRE(IoError, errno == EWOULDBLOCK || errno == EINTR, "cannot lock {}: {}",
                    file_.path().string(), std::strerror(errno));
    if (Clock::now() >= until) {
      const std::string who = holder_in(file_);
      throw IoError(
          fmt::format("cannot lock {}: process {} is writing to it and has not finished after {} "
                      "s; wait for it, or set a longer lock_seconds",
                      database.string(), who.empty() ? "?" : who, seconds));
    }
    TESSERA_REQUIRE(
        Interrupted, !stop.stop_requested() && !is_stopped(),
        "stopped while waiting for another process that writes to {}; no changes were saved",
        database.string());
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, std::chrono::milliseconds(50));
  }
  // For the message that others print. Nothing depends on it: on a full disk one can still drop.
  const std::string pid = std::to_string(::getpid());
  struct stat own {};
  if (::fstat(file_.descriptor(), &own) != 0 || own.st_nlink > 1)
    return;  // it may be another's too
  try {
    // A file that is cut to nothing and written again makes some systems wait for the disk.
    if (holder_in(file_) == pid) return;
    file_.write(0, std::as_bytes(std::span(pid)));
    file_.truncate(static_cast<std::int64_t>(pid.size()));
  } catch (const IoError&) {
    // They are told of process '?'.
  }
}

WriteLock::~WriteLock() { (void)::flock(file_.descriptor(), LOCK_UN); }

}  // namespace tessera
