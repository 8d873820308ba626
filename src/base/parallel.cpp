#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/memory_account.h"
#include "base/stop.h"

namespace tessera {

int thread_count(int asked) {
  if (asked > 0) return asked;
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void do_in_parallel(std::int64_t count, int threads,
                    const std::function<void(std::int64_t)>& work) {
  std::atomic<std::int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr first;
  const std::stop_token stop = heard_stop();
  const auto labour = [&, account = MemoryAccount::current()] {
    const OpenAccount counted(account);
    const StopScope stop_scope(stop);
    try {
      for (std::int64_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::int64_t t = 1; t < std::min<std::int64_t>(threads, count); ++t)
        others.emplace_back(labour);
    } catch (const std::system_error&) {
      // No more threads are to be had: those that there are do it.
    }
    labour();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace tessera
