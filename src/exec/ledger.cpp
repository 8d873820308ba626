#include "exec/ledger.h"

#include "tile/tile_rep.h"

namespace tessera::exec {

Ledger::Shard& Ledger::shard_of(const void* owner) {
  const auto address = reinterpret_cast<std::uintptr_t>(owner);
  return shards_[(address * 0x9E3779B97F4A7C15u) >> 60];
}

std::int64_t Ledger::enter(const Tile& tile, bool counts) {
  const void* owner = tile.rep().owner.get();
  if (owner == nullptr) return 0;
  Shard& shard = shard_of(owner);
  const std::lock_guard lock(shard.mutex);
  const auto [place, added] = shard.storages.try_emplace(owner);
  ++place->second.holders;
  if (added && counts) place->second.bytes = tile.bytes();
  return added ? place->second.bytes : 0;
}

std::int64_t Ledger::leave(const Tile& tile) {
  const void* owner = tile.rep().owner.get();
  if (owner == nullptr) return 0;
  Shard& shard = shard_of(owner);
  const std::lock_guard lock(shard.mutex);
  const auto place = shard.storages.find(owner);
  if (place == shard.storages.end() || --place->second.holders > 0) return 0;
  const std::int64_t bytes = place->second.bytes;
  shard.storages.erase(place);
  return bytes;
}

void Ledger::change(std::int64_t bytes, std::int64_t transient) {
  const std::int64_t now = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes + transient;
  std::int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void Ledger::exempt(const std::vector<Tile>& tiles) {
  for (const Tile& tile : tiles) enter(tile, false);
}

bool Ledger::is_exempt(const Tile& tile) {
  const void* owner = tile.rep().owner.get();
  if (owner == nullptr) return true;
  Shard& shard = shard_of(owner);
  const std::lock_guard lock(shard.mutex);
  const auto place = shard.storages.find(owner);
  return place != shard.storages.end() && place->second.bytes == 0;
}

std::int64_t Ledger::charged(const std::vector<Tile>& tiles) {
  std::int64_t bytes = 0;
  for (const Tile& tile : tiles)
    if (!is_exempt(tile)) bytes += tile.bytes();
  return bytes;
}

void Ledger::hold(const std::vector<Tile>& tiles) { made_of(0, tiles, 0); }

void Ledger::release(const std::vector<Tile>& tiles) { change(-hand_over(tiles), 0); }

std::int64_t Ledger::hand_over(const std::vector<Tile>& tiles) {
  std::int64_t bytes = 0;
  for (const Tile& tile : tiles) bytes += leave(tile);
  return bytes;
}

void Ledger::made_of(std::int64_t handed_over, const std::vector<Tile>& tiles,
                     std::int64_t transient) {
  std::int64_t bytes = -handed_over;
  for (const Tile& tile : tiles) bytes += enter(tile, true);
  change(bytes, transient);
}

}  // namespace tessera::exec
