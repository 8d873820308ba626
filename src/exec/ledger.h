#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "tessera/tile.h"

namespace tessera::exec {

/// Counts the memory of the tiles that a run holds. A tile's storage counts once however many
/// handles and views of it are held, and what the user holds does not count. Any thread may call.
class Ledger {
 public:
  /// Storage that the run does not own, such as the tiles of its inputs: it is not counted.
  void exempt(const std::vector<Tile>& tiles);
  /// Tiles that the run holds from now on, or no longer. Call `release` before dropping the
  /// handles.
  void hold(const std::vector<Tile>& tiles);
  void release(const std::vector<Tile>& tiles);

  /// Tiles that a task takes over: what they are is forgotten, how much they take is returned and
  /// stays counted until the task has made others of them.
  std::int64_t hand_over(const std::vector<Tile>& tiles);
  void made_of(std::int64_t handed_over, const std::vector<Tile>& tiles, std::int64_t transient);

  /// What these tiles, which are held, take: those whose storage is not ours take nothing.
  std::int64_t charged(const std::vector<Tile>& tiles);
  bool is_exempt(const Tile& tile);

  std::int64_t live() const { return live_.load(std::memory_order_relaxed); }
  std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  struct Storage {
    std::int64_t bytes = 0;  // 0: exempt
    std::int64_t holders = 0;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<const void*, Storage> storages;
  };
  Shard& shard_of(const void* owner);
  std::int64_t enter(const Tile& tile, bool counts);
  std::int64_t leave(const Tile& tile);
  void change(std::int64_t bytes, std::int64_t transient);

  std::array<Shard, 16> shards_;
  std::atomic<std::int64_t> live_ = 0;
  std::atomic<std::int64_t> peak_ = 0;
};

}  // namespace tessera::exec
