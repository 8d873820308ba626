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

void refuse_if_stopped(const std::filesystem::path& to, const std::stop_token& stop) {
  TESSERA_REQUIRE(Interrupted, !stop.stop_requested(), "stopped before all was written to {}",
                  to.string());
}

}  // namespace

void write_through(const File& file, const std::filesystem::path& to, const std::stop_token& stop) {
  const NoPipeSignal no_signal;
  int number = -1;
  while ((number = ::open(to.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
    struct stat there {};
    const bool waits = errno == ENXIO && ::stat(to.c_str(), &there) == 0 && S_ISFIFO(there.st_mode);
    if (errno != EINTR && !waits) fail(to);
    refuse_if_stopped(to, stop);
    std::this_thread::sleep_for(nap);
  }
  const Descriptor descriptor{number};
  std::vector<std::byte> buffer(1 << 16);
  for (std::int64_t at = 0;;) {
    const std::size_t there = file.read_some(at, buffer);
    if (there == 0) return;
    for (std::size_t done = 0; done < there;) {
      refuse_if_stopped(to, stop);
      const ssize_t count = ::write(number, buffer.data() + done, there - done);
      if (count > 0) {
        done += static_cast<std::size_t>(count);
        continue;
      }
      if (count < 0 && errno != EAGAIN && errno != EINTR) fail(to);
      pollfd ready{number, POLLOUT, 0};
      (void)::poll(&ready, 1, static_cast<int>(nap.count()));
    }
    at += static_cast<std::int64_t>(there);
  }
}

}  // namespace tessera
