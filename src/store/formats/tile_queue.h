#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/memory_account.h"
#include "store/formats/format.h"

namespace tessera::store {

/// Hands the tiles of a tensor on to a receiver by a thread of its own, while the next is made. At
/// most one waits.
class TileQueue {
 public:
  /// `beside` false: no thread, whoever adds a tile waits until it is received.
  TileQueue(Receiver& into, int tensor, bool beside);
  ~TileQueue();
  TileQueue(const TileQueue&) = delete;
  TileQueue& operator=(const TileQueue&) = delete;

  void add(const Key& key, Tile tile);
  /// All have been received. What the receiver has thrown is thrown here, or by `add`.
  void finish();

 private:
  void work();
  void stop();

  Receiver& into_;
  const int tensor_;
  const std::shared_ptr<MemoryAccount> account_ = MemoryAccount::current();  // of both threads
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Key, Tile>> waiting_;
  bool ended_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace tessera::store
