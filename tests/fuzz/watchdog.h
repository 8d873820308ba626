#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tessera {

/// Asks work that takes long to stop. If it does not, or takes too much memory, the process ends
/// with a message: then only another process can go on.
class Watchdog {
 public:
  struct Limits {
    std::chrono::milliseconds until_stopped{2000};  // 20 s later it must have ended
    double most_bytes = 6e9;
  };
  Watchdog() : Watchdog(Limits()) {}
  explicit Watchdog(const Limits& limits);
  ~Watchdog();

  /// Watches over what is done while this lives.
  class Watch {
   public:
    explicit Watch(Watchdog& watchdog);
    ~Watch();
    std::stop_token stop() const { return source_.get_token(); }

   private:
    Watchdog& watchdog_;
    std::stop_source source_;
  };

 private:
  void guard(const std::stop_token& ended);

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::stop_source* watched_ = nullptr;
  std::chrono::steady_clock::time_point begin_ = {};
  std::jthread thread_;
};

}  // namespace tessera
