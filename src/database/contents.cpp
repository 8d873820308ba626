#include "database/contents.h"

#include <xxhash.h>

#include "tile/parcel.h"

namespace tessera {

std::uint64_t checksum_of(const Relation& relation) {
  std::uint64_t sum = 0;
  const auto add = [&](const void* data, std::size_t bytes) {
    sum = XXH3_64bits_withSeed(data, bytes, sum);
  };
  for (const Tuple& tuple : relation.tuples()) {
    for (const std::int64_t component : tuple.key) add(&component, sizeof component);
    const Parcel parcel = pack(tuple.tiles);
    add(parcel.description.data(), parcel.description.size() * sizeof parcel.description[0]);
    for (const auto& piece : parcel.pieces) add(piece.data(), piece.size());
  }
  return sum;
}

}  // namespace tessera
