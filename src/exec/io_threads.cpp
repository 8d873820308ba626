#include "exec/io_threads.h"

#include <system_error>

namespace tessera::exec {

void IoThreads::call(std::int64_t number, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  waiting_.emplace(number, std::move(work));
  if (idle_ < static_cast<int>(waiting_.size()) && static_cast<int>(threads_.size()) < most_) {
    try {
      threads_.emplace_back([this] { this->work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;  // otherwise those that there are do it
    }
  }
  changed_.notify_one();
}

void IoThreads::work() {
  const OpenAccount counted(account_);
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    --idle_;
    if (stopped_) return;
    std::function<void()> next = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    lock.unlock();
    next();
    next = nullptr;
    lock.lock();
  }
}

void IoThreads::stop() {
  std::multimap<std::int64_t, std::function<void()>> forgotten;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    forgotten.swap(waiting_);
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace tessera::exec
