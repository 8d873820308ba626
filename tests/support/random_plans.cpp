#include "support/random_plans.h"

#include <map>
#include <memory>

#include "tessera/kernel.h"

namespace tessera {
namespace {

std::vector<int> some_components(Random& random, int arity, double each) {
  std::vector<int> result;
  for (int i = 0; i < arity; ++i)
    if (random.chance(each)) result.push_back(i);
  return result;
}

Plan grow(Random& random, std::vector<Plan>& pool) {
  const Plan& in = random.pick(pool);
  const int arity = in.type().arity();
  const int rank = in.type().columns[0].type.shape.rank();
  const auto one_of = [&](const std::vector<const char*>& names) { return random.pick(names); };
  switch (random.between(0, 9)) {
    case 0:
      return in.aggregate(some_components(random, arity, 0.5),
                          one_of({"add", "add", "maximum", "minimum"}));
    case 1: {
      const std::vector<int> on = some_components(random, arity, 0.7);
      return in.join(in, on, on, one_of({"add", "mul", "maximum", "sub"}));
    }
    case 2: {
      const Plan& other = random.pick(pool);
      std::vector<int> left, right;
      for (int i = 0; i < std::min(arity, other.type().arity()); ++i)
        if (random.chance(0.6)) {
          left.push_back(i);
          right.push_back(i);
        }
      random.shuffle(right);
      return in.join(other, left, right, one_of({"add", "mul", "sub"}));
    }
    case 3:
    case 4: {
      if (arity < 2 || rank != 2) return in;
      // A product of matrices with what fits: another relation, or itself the other way round.
      for (const Plan& other : pool)
        if (other.type().arity() == 2 && !other.is_same(in) && random.chance(0.7)) try {
            const Plan product = in.join(other, {1}, {0}, "matmul");
            return random.chance(0.8) && arity == 2 ? product.aggregate({0, 2}, "add") : product;
          } catch (const TypeError&) {
          }
      const Plan turned = in.transform("transpose");
      const Plan product = in.join(turned, {1}, {1}, "matmul");
      return arity == 2 ? product.aggregate({0, 2}, "add") : product;
    }
    case 5: {
      if (arity == 1)
        return in.rekey(one_of({"<2*k0>", "<k0 + 1>", "<k0 div 2, k0 mod 2>", "<0, k0>"}));
      if (arity == 2)
        return in.rekey(one_of({"<k1, k0>", "<k1, k0>", "<k0, k0 + k1>", "<k0 * 8 + k1>"}));
      return arity == 3 ? in.rekey(one_of({"<k2, k0, k1>", "<k0, k1 * 4 + k2>"})) : in;
    }
    case 6:
      return arity == 0 ? in
                        : in.filter(one_of({"k0 < 2", "k0 mod 2 = 0", "k0 = 1 or k0 = 2", "true"}));
    case 7:
      return in.transform(rank == 0 ? one_of({"neg", "abs", "add_scalar(value=2)"})
                                    : one_of({"neg", "abs", "add_scalar(value=2)", "relu",
                                              "transpose", "sum(axes=[0])"}));
    case 8:
      return rank == 0
                 ? in
                 : in.tile(static_cast<int>(random.between(0, rank - 1)), random.between(1, 4));
    default:
      return rank == 0 || arity == 0 ? in
                                     : in.concat(static_cast<int>(random.between(0, arity - 1)),
                                                 static_cast<int>(random.between(0, rank - 1)));
  }
}

/// Tiles that are read are copies: nobody else holds them.
Plan input(const Relation& relation, const std::string& name, Inputs inputs) {
  if (inputs == Inputs::at_hand) return Plan::input(relation, name);
  auto listing = std::make_shared<TupleSet<TileType>>();
  listing->type = relation.type();
  listing->absent_types = relation.absent_types();
  for (const Tuple& tuple : relation.tuples()) {
    listing->tuples.push_back({tuple.key, {}});
    for (const Tile& tile : tuple.tiles) listing->tuples.back().tiles.push_back(tile.type());
  }
  return Plan::input(
      listing,
      [relation](const Key& key) {
        std::vector<Tile> tiles = relation.find(key)->tiles;
        for (Tile& tile : tiles)
          if (!tile.is_sparse()) tile = MutableTile::copy_of(tile).publish();
        return tiles;
      },
      name);
}

}  // namespace

Relation random_relation(Random& random, int least_rank, int most_rank) {
  Shape shape, tile;
  for (std::int64_t i = random.between(least_rank, most_rank); i > 0; --i) {
    std::int64_t extent = random.between(1, 7);
    tile.push_back(random.between(1, (extent + 1) / 2));
    if (random.chance(0.5)) extent = tile.back() * random.between(1, 4);  // no edges
    shape.push_back(extent);
  }
  // Blocks of zeros, so that sparse relations lack tiles.
  const Tile values = random_tile(random, DType::i64, shape, {});
  const Tile mask = random_integers(DType::i64, shape, random.bits(), 0, random.between(1, 4));
  const Tile tensor = KernelCall("mul")({values.dense(), mask});
  const bool sparse = random.chance(0.25);
  const bool sparse_tiles = random.chance(0.2);
  return Relation::from_tensor(sparse_tiles ? tensor.with_sparse_dims(1) : tensor, tile,
                               sparse ? Presence::sparse : Presence::continuous);
}

std::optional<Plan> random_plan(Random& random, int operators, Inputs inputs) {
  std::vector<Plan> pool;
  for (std::int64_t i = random.between(1, 3); i > 0; --i)
    pool.push_back(input(random_relation(random), std::string(1, "TUV"[i - 1]), inputs));
  try {
    for (int i = 0; i < operators; ++i) {
      const Plan next = grow(random, pool);
      if (next.cardinality().tuples > 2000) return std::nullopt;
      // Mostly onwards from the last one; what was made before stays at hand for joins.
      pool.push_back(next);
      if (random.chance(0.5)) pool.push_back(next);
    }
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    if (std::holds_alternative<op::Input>(operator_of(pool.back()))) return std::nullopt;
  }
  return pool.back();
}

Placement random_placement(Random& random, const Key& frontier, int sites, bool copies) {
  const int arity = static_cast<int>(frontier.size());
  if (copies && random.chance(0.15)) return Placement::all(sites);
  if (random.chance(0.4))
    return Placement::part(some_components(random, arity, 0.6), frontier, sites);
  std::vector<Axis> axes;
  int left = sites;
  while (left > 1 && axes.size() < 3) {
    const int extent = static_cast<int>(random.between(1, left));
    left /= extent;
    if (arity == 0 || (copies && random.chance(0.25))) {
      if (copies) axes.push_back({extent, Axis::Kind::copy, {}});
      if (!copies) break;
      continue;
    }
    Axis axis{extent, Axis::Kind::split, {}};
    for (int component : some_components(random, arity, 0.4))
      axis.digits.push_back({component, random.between(1, 2), random.between(1, 3)});
    if (axis.digits.empty()) axis.digits.push_back({0, 1, 1});
    axes.push_back(axis);
  }
  return {axes, sites};
}

ia::PlaceInput random_places(Random& random, int sites) {
  auto seed = random.bits();
  auto known = std::make_shared<std::map<const Plan::Node*, Placement>>();
  return [seed, known, sites](const Plan& input) {
    const auto found = known->find(&input.node());
    if (found != known->end()) return found->second;
    Random own(seed + known->size());
    return known->emplace(&input.node(), random_placement(own, input.frontier(), sites))
        .first->second;
  };
}

std::optional<Relation> interpreted(const Plan& plan) {
  try {
    return plan.interpret(Holes::allowed);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;  // random plans are allowed to be wrong
  }
}

}  // namespace tessera
