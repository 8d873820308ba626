#include "store/formats/tile_queue.h"

#include "base/stop.h"

namespace tessera::store {

TileQueue::TileQueue(Receiver& into, int tensor, bool beside) : into_(into), tensor_(tensor) {
  if (beside)
    thread_ = std::thread([this, stop = heard_stop()] {
      const StopScope stop_scope(stop);
      work();
    });
}

TileQueue::~TileQueue() { stop(); }

void TileQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void TileQueue::work() {
  const OpenAccount counted(account_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto [key, tile] = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    lock.unlock();
    std::exception_ptr error;
    try {
      into_.add(tensor_, key, tile);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (!error) continue;
    error_ = error;
    waiting_.clear();
    changed_.notify_all();
    return;
  }
}

void TileQueue::add(const Key& key, Tile tile) {
  if (!thread_.joinable()) {
    into_.add(tensor_, key, tile);
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return error_ || waiting_.empty(); });
  if (error_) std::rethrow_exception(error_);
  waiting_.emplace_back(key, std::move(tile));
  changed_.notify_all();
}

void TileQueue::finish() {
  stop();
  if (error_) std::rethrow_exception(error_);
}

}  // namespace tessera::store
