#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/odometer.h"
#include "tessera/kernel.h"
#include "tessera/relation.h"

namespace tessera {

// What the operators need of a payload, for tiles and for their types.
inline std::vector<Tile> apply_kernel(const KernelCall& kernel,
                                      const std::vector<Tile>& arguments) {
  return kernel.run(arguments);
}
inline std::vector<TileType> apply_kernel(const KernelCall& kernel,
                                          const std::vector<TileType>& arguments) {
  return kernel.infer(arguments);
}
Tile cut(const Tile& tile, int dimension, std::int64_t begin, std::int64_t end);
TileType cut(const TileType& type, int dimension, std::int64_t begin, std::int64_t end);
inline TileType type_of(const Tile& tile) { return tile.type(); }
inline TileType type_of(const TileType& type) { return type; }

/// The type of a tile of zeros: where it can, it stores nothing but its shape.
inline TileType zero_type(const TileType& type) {
  return {type.dtype, type.shape, type.shape.rank()};
}

/// A relation without its tiles.
TupleSet<TileType> types_of(const Relation& relation);

/// The types of the tiles at every key below the frontier of a relation that is not partial,
/// whether the tuple is stored or not. It holds no tiles.
template <class Payload>
TypesAt types_everywhere(const TupleSet<Payload>& set) {
  auto stored = std::make_shared<std::map<Key, std::vector<TileType>>>();
  for (const auto& tuple : set.tuples) {
    std::vector<TileType>& types = (*stored)[tuple.key];
    for (const Payload& tile : tuple.tiles) types.push_back(type_of(tile));
  }
  return [stored, absent = set.absent_types](const Key& key) {
    const auto found = stored->find(key);
    return found != stored->end() ? found->second : absent(key);
  };
}

/// The relation with every absent key below its frontier filled in with tiles of zeros.
template <class Payload>
TupleSet<Payload> complete(const TupleSet<Payload>& set);

/// Keys stay below this, so that the frontier above them can be counted.
inline constexpr std::int64_t max_key_component = std::int64_t{1} << 62;

/// The dtypes and bounds of the columns of some tuples. A layout is kept only if all tiles share
/// it.
template <class Payload>
std::vector<Column> columns_of(const std::vector<BasicTuple<Payload>>& tuples);

/// The frontier of the keys that are there: zeros if there are none.
template <class Payload>
Key frontier_of(const std::vector<BasicTuple<Payload>>& tuples, int arity) {
  Key frontier(arity, 0);
  for (const auto& tuple : tuples)
    for (int i = 0; i < arity; ++i) frontier[i] = std::max(frontier[i], tuple.key[i] + 1);
  return frontier;
}

/// The first key below the frontier that is absent, if there is one; tuples are in key order.
template <class Payload>
std::optional<Key> first_hole(const std::vector<BasicTuple<Payload>>& tuples, const Key& frontier) {
  if (tuples.empty()) return std::nullopt;
  Key expected(frontier.size(), 0);
  for (const auto& tuple : tuples) {
    if (tuple.key != expected) return expected;
    advance(expected, frontier);
  }
  const bool all = static_cast<std::int64_t>(tuples.size()) == count_below(frontier);
  return all ? std::nullopt : std::optional<Key>(expected);
}

}  // namespace tessera
