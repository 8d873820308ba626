#include "tra/tuple_set.h"

#include <algorithm>
#include <map>

#include "base/check.h"

namespace tessera {

std::vector<Tile> apply_kernel(const KernelCall& kernel, const std::vector<Tile>& arguments) {
  return kernel.run(arguments);
}
std::vector<TileType> apply_kernel(const KernelCall& kernel,
                                   const std::vector<TileType>& arguments) {
  return kernel.infer(arguments);
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

/// A tile of zeros stores nothing but its shape where it can: all dimensions sparse.
template <>
Tile zero_of<Tile>(const TileType& type) {
  return Tile::zeros(type.dtype, type.shape, type.shape.rank());
}
template <>
TileType zero_of<TileType>(const TileType& type) {
  return {type.dtype, type.shape, type.shape.rank()};
}

namespace {

/// The shape of a tile that is absent, told by those that are there. A dimension's extent is the
/// bound, unless the tiles' extents differ and follow from one key component (as those along the
/// edge of a tensor do): then it is what the other tiles with that component have.
template <class Payload>
class AbsentShapes {
 public:
  AbsentShapes(const RelationType& type, const std::vector<BasicTuple<Payload>>& tuples, int column)
      : bound_(type.columns[column].type.shape), rules_(bound_.size()) {
    for (int d = 0; d < bound_.rank(); ++d) {
      const auto extent = [&](const auto& t) { return type_of(t.tiles[column]).shape[d]; };
      if (std::all_of(tuples.begin(), tuples.end(),
                      [&](const auto& t) { return extent(t) == bound_[d]; }))
        continue;
      // Component d first: that is the one in a tensor cut into tiles.
      std::vector<int> candidates;
      if (d < type.arity()) candidates.push_back(d);
      for (int i = 0; i < type.arity(); ++i)
        if (i != d) candidates.push_back(i);
      for (int component : candidates) {
        Rule rule{component, {}};
        const bool follows = std::all_of(tuples.begin(), tuples.end(), [&](const auto& t) {
          const auto [place, added] = rule.extents.emplace(t.key[component], extent(t));
          return added || place->second == extent(t);
        });
        if (!follows) continue;
        rules_[d] = std::move(rule);
        break;
      }
    }
  }

  Shape operator()(const Key& key) const {
    Shape shape = bound_;
    for (int d = 0; d < shape.rank(); ++d) {
      if (rules_[d].component < 0) continue;
      const auto found = rules_[d].extents.find(key[rules_[d].component]);
      if (found != rules_[d].extents.end()) shape[d] = found->second;
    }
    return shape;
  }

 private:
  struct Rule {
    int component = -1;
    std::map<std::int64_t, std::int64_t> extents;
  };
  Shape bound_;
  std::vector<Rule> rules_;
};

}  // namespace

Tile absent_tile(const RelationType& type, const std::vector<Tuple>& tuples, const Key& key,
                 int column) {
  const Shape shape = AbsentShapes<Tile>(type, tuples, column)(key);
  return zero_of<Tile>({type.columns[column].type.dtype, shape, 0});
}

template <class Payload>
TupleSet<Payload> complete(const TupleSet<Payload>& set) {
  TupleSet<Payload> result;
  result.type = set.type;
  result.type.presence = Presence::continuous;
  const std::int64_t total = count_below(set.type.frontier);
  std::vector<AbsentShapes<Payload>> shapes;
  for (std::size_t c = 0; c < set.type.columns.size(); ++c)
    shapes.emplace_back(set.type, set.tuples, static_cast<int>(c));
  Key key(set.type.frontier.size(), 0);
  auto next = set.tuples.begin();
  for (std::int64_t i = 0; i < total; ++i) {
    if (next != set.tuples.end() && next->key == key) {
      result.tuples.push_back(*next++);
    } else {
      BasicTuple<Payload> tuple{key, {}};
      for (std::size_t c = 0; c < shapes.size(); ++c)
        tuple.tiles.push_back(
            zero_of<Payload>({set.type.columns[c].type.dtype, shapes[c](key), 0}));
      result.tuples.push_back(std::move(tuple));
    }
    for (std::size_t d = key.size(); d-- > 0;) {
      if (++key[d] < set.type.frontier[d]) break;
      key[d] = 0;
    }
  }
  return result;
}

template TupleSet<Tile> complete(const TupleSet<Tile>&);
template TupleSet<TileType> complete(const TupleSet<TileType>&);

}  // namespace tessera
