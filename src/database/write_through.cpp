#include "database/write_through.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/check.h"

namespace tessera {
namespace {

constexpr std::chrono::milliseconds nap(20);

/// A pipe whose reader goes ends this with an error, and not the process with a signal.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    (void)::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec none{};
    if (sigismember(&before_, SIGPIPE) == 0) (void)::sigtimedwait(&pipe_, nullptr, &none);
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
};

struct Descriptor {
  int number;
  ~Descriptor() { (void)::close(number); }
};

[[noreturn]] void fail(const std::filesystem::path& to) {
  throw IoError(fmt::format("cannot write {}: {}", to.string(), std::strerror(errno)));
}

void refuse_if_export_stopped(const std::filesystem::path& to, const std::stop_token& stop) {
  TESSERA_REQUIRE(Interrupted, !stop.stop_requested(), "stopped before {} was completely written",
                  to.string());
}

bool is_file(const std::filesystem::path& path) {
  struct stat there {};
  return ::stat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode);
}

int opened(const std::filesystem::path& to, const std::stop_token& stop) {
  int number = -1;
  // A file that is opened anew would be written from its beginning, over what is there.
  if (const auto ours = descriptor_of(to); ours && is_file(to)) {
    number = ::fcntl(*ours, F_DUPFD_CLOEXEC, 0);
    if (number < 0) fail(to);
    return number;
  }
  while ((number = ::open(to.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
    struct stat there {};
    const bool waits = errno == ENXIO && ::stat(to.c_str(), &there) == 0 && S_ISFIFO(there.st_mode);
    if (errno != EINTR && !waits) fail(to);
    refuse_if_export_stopped(to, stop);
    std::this_thread::sleep_for(nap);
  }
  return number;
}

}  // namespace

std::optional<int> descriptor_of(std::filesystem::path path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path ours = fs::canonical("/proc/self/fd", error);
  if (error) return std::nullopt;
  constexpr int most = 40;  // as many links as the system follows
  for (int i = 0; i < most && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    const fs::path folder = fs::canonical(fs::absolute(path, error).parent_path(), error);
    if (error) return std::nullopt;
    if (folder == ours) return std::stoi(path.filename().string());
    path = folder / fs::read_symlink(path, error);
  }
  return std::nullopt;
}

void write_through(const File& file, const std::filesystem::path& to, const std::stop_token& stop) {
  const NoPipeSignal no_signal;
  const Descriptor descriptor{opened(to, stop)};
  std::vector<std::byte> buffer(1 << 16);
  for (std::int64_t at = 0;;) {
    const std::size_t there = file.read_some(at, buffer);
    if (there == 0) return;
    for (std::size_t done = 0; done < there;) {
      refuse_if_export_stopped(to, stop);
      const ssize_t count = ::write(descriptor.number, buffer.data() + done, there - done);
      if (count > 0) {
        done += static_cast<std::size_t>(count);
        continue;
      }
      if (count < 0 && errno != EAGAIN && errno != EINTR) fail(to);
      pollfd ready{descriptor.number, POLLOUT, 0};
      (void)::poll(&ready, 1, static_cast<int>(nap.count()));
    }
    at += static_cast<std::int64_t>(there);
  }
}

}  // namespace tessera
