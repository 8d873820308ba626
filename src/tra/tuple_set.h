#pragma once

#include <vector>

#include "tessera/kernel.h"
#include "tessera/relation.h"

namespace tessera {

/// The tuples of a relation in order of their keys, with payloads of either kind: tiles when a
/// plan runs, tile types when its result is only inferred.
template <class Payload>
struct TupleSet {
  RelationType type;
  std::vector<BasicTuple<Payload>> tuples;
};

// What the operators need of a payload, for tiles and for their types.
std::vector<Tile> apply_kernel(const KernelCall& kernel, const std::vector<Tile>& arguments);
std::vector<TileType> apply_kernel(const KernelCall& kernel,
                                   const std::vector<TileType>& arguments);
Tile cut(const Tile& tile, int dimension, std::int64_t begin, std::int64_t end);
TileType cut(const TileType& type, int dimension, std::int64_t begin, std::int64_t end);
inline TileType type_of(const Tile& tile) { return tile.type(); }
inline TileType type_of(const TileType& type) { return type; }
template <class Payload>
Payload zero_of(const TileType& type);

/// The tile of zeros that a sparse relation leaves out at a key.
Tile absent_tile(const RelationType& type, const std::vector<Tuple>& tuples, const Key& key,
                 int column);

/// The relation with every absent key below its frontier filled in with tiles of zeros.
template <class Payload>
TupleSet<Payload> complete(const TupleSet<Payload>& set);

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
    for (std::size_t i = frontier.size(); i-- > 0;) {
      if (++expected[i] < frontier[i]) break;
      expected[i] = 0;
    }
  }
  const bool all = static_cast<std::int64_t>(tuples.size()) == count_below(frontier);
  return all ? std::nullopt : std::optional<Key>(expected);
}

}  // namespace tessera
