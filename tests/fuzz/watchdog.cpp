#include "fuzz/watchdog.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace tessera {
namespace {

constexpr std::chrono::seconds to_end{20};

double resident_bytes() {
  double all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

[[noreturn]] void end(const std::string& why) {
  fmt::print("{}\n", why);
  std::fflush(nullptr);
  ::_exit(3);
}

}  // namespace

Watchdog::Watchdog(const Limits& limits)
    : limits_(limits), thread_([this](const std::stop_token& ended) { guard(ended); }) {}
Watchdog::~Watchdog() = default;

void Watchdog::guard(const std::stop_token& ended) {
  std::unique_lock lock(mutex_);
  while (!ended.stop_requested()) {
    changed_.wait_for(lock, ended, std::chrono::milliseconds(100), [] { return false; });
    if (watched_ == nullptr) continue;
    const auto taken = std::chrono::steady_clock::now() - begin_;
    if (taken > limits_.until_stopped) watched_->request_stop();
    if (taken > limits_.until_stopped + to_end)
      end("it was asked to stop, and 20 seconds later it still runs");
    if (resident_bytes() > limits_.most_bytes)
      end(fmt::format("it takes more than {} GB of memory", limits_.most_bytes / 1e9));
  }
}

Watchdog::Watch::Watch(Watchdog& watchdog) : watchdog_(watchdog) {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.watched_ = &source_;
  watchdog_.begin_ = std::chrono::steady_clock::now();
}

Watchdog::Watch::~Watch() {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.watched_ = nullptr;
}

}  // namespace tessera
