#include "tile/tile_hash.h"

#include <xxhash.h>

#include <algorithm>

#include "tile/parcel.h"
#include "tile/tile_rep.h"

namespace tessera {

std::uint64_t hash_of(const Tile& tile) {
  std::atomic<std::uint64_t>& known = tile.rep().hash.value;
  std::uint64_t hash = known.load(std::memory_order_relaxed);
  if (hash != 0) return hash;
  const Parcel parcel = pack({tile});
  hash = XXH3_64bits(parcel.description.data(),
                     parcel.description.size() * sizeof parcel.description[0]);
  for (const auto& piece : parcel.pieces)
    hash = XXH3_64bits_withSeed(piece.data(), piece.size(), hash);
  hash = std::max<std::uint64_t>(hash, 1);  // 0: not known
  known.store(hash, std::memory_order_relaxed);
  return hash;
}

}  // namespace tessera
