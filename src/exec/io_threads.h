#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/memory_account.h"

namespace tessera::exec {

/// A few threads that read and write while others compute. What they allocate counts in the account
/// of the thread that made them.
class IoThreads {
 public:
  explicit IoThreads(int threads) : most_(threads) {}
  ~IoThreads() { stop(); }
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  /// Has something done that throws nothing. Of all that waits, what has the least number is done
  /// first.
  void call(std::int64_t number, std::function<void()> work);
  /// Forgets what waits and returns when what was begun has ended. Later calls do nothing.
  void stop();

 private:
  void work();

  const int most_;
  const std::shared_ptr<MemoryAccount> account_ = MemoryAccount::current();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::int64_t, std::function<void()>> waiting_;
  int idle_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;  // started when they are first needed
};

}  // namespace tessera::exec
