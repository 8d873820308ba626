#include "tra/tuple_set.h"

#include "base/check.h"
#include "base/stop.h"

namespace tessera {

TupleSet<TileType> types_of(const Relation& relation) {
  TupleSet<TileType> set{relation.type(), {}, relation.absent_types()};
  for (const Tuple& tuple : relation.tuples()) {
    BasicTuple<TileType> typed{tuple.key, {}};
    for (const Tile& tile : tuple.tiles) typed.tiles.push_back(tile.type());
    set.tuples.push_back(std::move(typed));
  }
  return set;
}

Tile cut(const Tile& tile, int dimension, std::int64_t begin, std::int64_t end) {
  Index from(tile.rank(), 0);
  Index to = tile.shape();
  from[dimension] = begin;
  to[dimension] = end;
  return tile.slice(from, to);
}
TileType cut(const TileType& type, int dimension, std::int64_t begin, std::int64_t end) {
  TileType result = type;
  result.shape[dimension] = end - begin;
  return result;
}

namespace {

template <class Payload>
Payload zero_of(const TileType& type);
template <>
Tile zero_of<Tile>(const TileType& type) {
  return Tile::zeros(zero_type(type));
}
template <>
TileType zero_of<TileType>(const TileType& type) {
  return zero_type(type);
}

}  // namespace

template <class Payload>
TupleSet<Payload> complete(const TupleSet<Payload>& set) {
  TupleSet<Payload> result{set.type, {}, {}};
  result.type.presence = Presence::continuous;
  Key key(set.type.frontier.size(), 0);
  auto next = set.tuples.begin();
  for (bool more = count_below(set.type.frontier) > 0; more;
       more = advance(key, set.type.frontier)) {
    refuse_if_stopped("absent tiles were filled in");
    if (next != set.tuples.end() && next->key == key) {
      result.tuples.push_back(*next++);
      continue;
    }
    BasicTuple<Payload> tuple{key, {}};
    for (const TileType& type : set.absent_types(key))
      tuple.tiles.push_back(zero_of<Payload>(type));
    result.tuples.push_back(std::move(tuple));
  }
  return result;
}

template TupleSet<Tile> complete(const TupleSet<Tile>&);
template TupleSet<TileType> complete(const TupleSet<TileType>&);

}  // namespace tessera
