#include "tra/relation_hash.h"

#include <xxhash.h>

#include "base/parallel.h"
#include "tile/tile_hash.h"

namespace tessera {
namespace {

/// Tiles that are large enough for it are read by several threads; then all hashes are there.
void hash_tiles(const std::vector<Tuple>& tuples) {
  constexpr std::int64_t worth_a_thread = std::int64_t{1} << 20;
  std::int64_t bytes = 0;
  for (const Tuple& tuple : tuples)
    for (const Tile& tile : tuple.tiles) bytes += tile.bytes();
  const auto count = static_cast<std::int64_t>(tuples.size());
  const std::int64_t threads = std::min<std::int64_t>(thread_count(0), bytes / worth_a_thread);
  if (threads < 2) return;
  do_in_parallel(count, static_cast<int>(threads), [&](std::int64_t t) {
    for (const Tile& tile : tuples[static_cast<std::size_t>(t)].tiles) (void)hash_of(tile);
  });
}

}  // namespace

std::uint64_t hash_of(const Relation& relation) {
  hash_tiles(relation.tuples());
  std::uint64_t hash = 0;
  const auto add = [&](const void* data, std::size_t bytes) {
    hash = XXH3_64bits_withSeed(data, bytes, hash);
  };
  for (const Tuple& tuple : relation.tuples()) {
    add(tuple.key.begin(), tuple.key.size() * sizeof *tuple.key.begin());
    for (const Tile& tile : tuple.tiles) {
      const std::uint64_t own = hash_of(tile);
      add(&own, sizeof own);
    }
  }
  return hash;
}

}  // namespace tessera
