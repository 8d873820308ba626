#include "ia/evaluate.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/check.h"
#include "ia/pipeline.h"
#include "ia/plan_node.h"
#include "tra/plan_node.h"

namespace tessera::ia {

double Traffic::most_loaded() const {
  double most = 0;
  for (double floats : sent) most = std::max(most, floats);
  for (double floats : received) most = std::max(most, floats);
  return most;
}

Traffic& Traffic::operator+=(const Traffic& other) {
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i] += other.sent[i];
    received[i] += other.received[i];
  }
  total += other.total;
  return *this;
}

void routes(const std::vector<int>& holders, const std::vector<int>& missing,
            std::vector<Route>& into) {
  into.clear();
  const std::size_t many = missing.size(), few = holders.size();
  // From the first site after the first holder on, so that not everybody loads the same sites.
  const auto after = static_cast<std::size_t>(
      std::upper_bound(missing.begin(), missing.end(), holders.front()) - missing.begin());
  const auto wanting = [&](std::size_t i) { return missing[(after + i) % many]; };
  const bool direct = many <= 3 * few;
  for (std::size_t i = 0; i < many; ++i) {
    const std::size_t server = direct ? i % few : i / 2;
    into.push_back({server < few ? holders[server] : wanting(server - few), wanting(i)});
  }
}

std::vector<std::vector<int>> summands_at(const Placement& placement,
                                          const std::vector<int>& holders, bool pending) {
  if (!pending) return {holders};
  std::vector<std::vector<int>> result;
  if (placement.is_scattered()) {
    for (int site : holders) result.push_back({site});
    return result;
  }
  // The coordinates of a site along the axes of summands, as one number.
  std::map<int, std::vector<int>> by_summand;
  for (int site : holders) {
    int rest = site, summand = 0, scale = 1;
    for (auto axis = placement.axes().rbegin(); axis != placement.axes().rend(); ++axis) {
      if (axis->kind == Axis::Kind::partial) {
        summand += scale * (rest % axis->extent);
        scale *= axis->extent;
      }
      rest /= axis->extent;
    }
    by_summand[summand].push_back(site);
  }
  for (auto& [summand, sites] : by_summand) result.push_back(std::move(sites));
  return result;
}

namespace {

template <class Payload>
double floats_in(const BasicTuple<Payload>& tuple) {
  double floats = 0;
  for (const Payload& tile : tuple.tiles)
    floats += static_cast<double>(type_of(tile).shape.elements());
  return floats;
}

Tile zeros(const TileType& type, const Tile*) { return Tile::zeros(zero_type(type)); }
TileType zeros(const TileType& type, const TileType*) { return zero_type(type); }

template <class Payload>
void sort_by_key(PhysicalSet<Payload>& set) {
  for (auto& tuples : set.at)
    std::stable_sort(tuples.begin(), tuples.end(),
                     [](const auto& a, const auto& b) { return a.key < b.key; });
}

template <class Payload>
class Evaluator {
 public:
  using Set = PhysicalSet<Payload>;
  using Tuples = std::vector<BasicTuple<Payload>>;

  Evaluator(const Plan& plan, std::vector<const Set*> inputs, Traffic* traffic)
      : plan_(plan), inputs_(std::move(inputs)), traffic_(traffic) {}

  Set operator()(const Input&) const {
    Set set = empty();
    for (const BasicTuple<Payload>& tuple : given())
      for (int site : plan_.placement().holders(tuple.key)) set.at[site].push_back(tuple);
    return set;
  }

  Set operator()(const Broadcast&) const { return move(plan_.placement()); }
  Set operator()(const Shuffle& shuffle) const { return move(shuffle.to); }

  Set operator()(const Join& join) const {
    Set set = empty();
    for (int site = 0; site < plan_.sites(); ++site)
      for_each_match(
          inputs_[0]->at[site], inputs_[1]->at[site], join.left_keys, join.right_keys,
          join.right.type().arity(), [&](const Key& key, const std::vector<Payload>& columns) {
            auto tiles = here(key, [&] { return through(columns, join.projection); });
            set.at[site].push_back({join.keys ? join.keys->evaluate(key) : key, std::move(tiles)});
          });
    return set;
  }

  Set operator()(const Aggregate& aggregate) const {
    Set set = empty();
    for (int site = 0; site < plan_.sites(); ++site) {
      std::map<Key, std::vector<Payload>> groups;
      for (const auto& tuple : inputs_[0]->at[site]) {
        const auto [place, added] =
            groups.emplace(pick(tuple.key, aggregate.group_by), tuple.tiles);
        if (added) continue;
        here(tuple.key, [&] {
          for (std::size_t c = 0; c < tuple.tiles.size(); ++c)
            place->second[c] = fold_tiles(aggregate.kernels[c], place->second[c], tuple.tiles[c]);
        });
      }
      for (auto& [key, tiles] : groups)
        set.at[site].push_back({key, here(key, [&] { return through(tiles, aggregate.finish); })});
    }
    return set;
  }

  /// By definition: all products first.
  Set operator()(const JoinAggregate& both) const {
    Set products = Evaluator(both.aggregate.input, inputs_, traffic_)(both.join());
    sort_by_key(products);
    return Evaluator(plan_, {&products}, traffic_)(both.aggregate);
  }

  Set operator()(const Concat& concat) const {
    Set set = empty();
    const KernelCall join_arrays("concat", {{"axis", std::int64_t{concat.dimension}}});
    for (int site = 0; site < plan_.sites(); ++site) {
      std::map<Key, std::map<std::int64_t, const BasicTuple<Payload>*>> groups;
      for (const auto& tuple : inputs_[0]->at[site]) {
        Key group;
        for (std::size_t i = 0; i < tuple.key.size(); ++i)
          if (static_cast<int>(i) != concat.key_component) group.push_back(tuple.key[i]);
        groups[group][tuple.key[concat.key_component]] = &tuple;
      }
      for (const auto& [key, members] : groups) {
        std::int64_t expected = 0;
        for (const auto& [at, tuple] : members)
          TESSERA_REQUIRE(PlanError, at == expected++, "{}: the array before {} is missing",
                          describe(plan_), to_string(tuple->key));
        BasicTuple<Payload> joined{key, {}};
        for (std::size_t c = 0; c < plan_.type().columns.size(); ++c) {
          std::vector<Payload> arrays;
          for (const auto& [at, tuple] : members) arrays.push_back(tuple->tiles[c]);
          joined.tiles.push_back(
              here(key, [&] { return apply_kernel(join_arrays, arrays).front(); }));
        }
        set.at[site].push_back(std::move(joined));
      }
    }
    return set;
  }

  Set operator()(const Filter& filter) const {
    Set set = empty();
    for (int site = 0; site < plan_.sites(); ++site)
      for (const auto& tuple : inputs_[0]->at[site])
        if (filter.predicate.evaluate(tuple.key)) set.at[site].push_back(tuple);
    return set;
  }

  Set operator()(const Map& map) const {
    Set set = empty();
    for (int site = 0; site < plan_.sites(); ++site)
      for (const auto& tuple : inputs_[0]->at[site])
        for (const Branch& branch : map.branches) {
          std::vector<Payload> tiles = tuple.tiles;
          if (branch.cut)
            for (Payload& tile : tiles)
              tile = cut_piece(tile, branch.cut->dimension, branch.cut->size, branch.cut->piece);
          tiles = here(tuple.key, [&] { return through(tiles, branch.arrays); });
          set.at[site].push_back(
              {branch.keys ? branch.keys->evaluate(tuple.key) : tuple.key, std::move(tiles)});
        }
    return set;
  }

  Set operator()(const Fill& fill) const {
    Set set = *inputs_[0];
    const auto& pilot = fill.input.logical().node().pilot;
    if (fill.input.type().presence != Presence::sparse) return set;
    TESSERA_REQUIRE(PlanError, pilot != nullptr,
                    "{}: {} is too large for its zeros to be filled in", describe(plan_),
                    to_string(fill.input.type()));
    const TypesAt types = types_everywhere(*pilot);
    for (int site = 0; site < plan_.sites(); ++site) {
      std::unordered_map<Key, bool, KeyHash> there;
      for (const auto& tuple : set.at[site]) there[tuple.key] = true;
      Key key(plan_.type().frontier.size(), 0);
      do {
        const std::vector<int> holders = plan_.placement().holders(key);
        if (!std::binary_search(holders.begin(), holders.end(), site) || there.contains(key))
          continue;
        BasicTuple<Payload> absent{key, {}};
        for (const TileType& type : types(key))
          absent.tiles.push_back(zeros(type, static_cast<const Payload*>(nullptr)));
        set.at[site].push_back(std::move(absent));
      } while (advance(key, plan_.type().frontier));
    }
    return set;
  }

 private:
  Set empty() const { return {std::vector<Tuples>(plan_.sites())}; }

  std::vector<BasicTuple<Payload>> given() const {
    const auto& input = std::get<op::Input>(tessera::operator_of(plan_.logical()));
    if constexpr (std::is_same_v<Payload, Tile>) {
      if (input.source) return tuples_from(input).tuples;
      TESSERA_REQUIRE(PlanError, input.relation.has_value(),
                      "{} has a type but no tuples: the plan can be explained, but not run",
                      tessera::describe(tessera::operator_of(plan_.logical())));
      return input.relation->tuples();
    } else {
      const auto types = listed(plan_.logical());
      TESSERA_REQUIRE(PlanError, types != nullptr, "{} is too large to be listed",
                      to_string(plan_.type()));
      return types->tuples;
    }
  }

  /// Sends every tuple, or every summand of one, to where it is to be and is not.
  Set move(const Placement& to) const {
    const Plan input = inputs_of(operator_of(plan_)).front();
    std::map<Key, std::map<int, std::vector<const BasicTuple<Payload>*>>> by_key;
    for (int site = 0; site < plan_.sites(); ++site)
      for (const auto& tuple : inputs_[0]->at[site]) by_key[tuple.key][site].push_back(&tuple);
    Set set = empty();
    for (const auto& [key, sites] : by_key) {
      std::vector<int> holders;
      for (const auto& [site, tuples] : sites) holders.push_back(site);
      for (const std::vector<int>& same :
           summands_at(input.placement(), holders, !input.pending().empty())) {
        std::vector<int> missing;
        for (int site : to.holders(key)) {
          const bool there = std::find(same.begin(), same.end(), site) != same.end();
          if (!there) missing.push_back(site);
          for (const auto* tuple : sites.at(there ? site : same.front()))
            set.at[site].push_back(*tuple);
        }
        std::vector<Route> sendings;
        routes(same, missing, sendings);
        for (const Route& route : sendings)
          for (const auto* tuple : sites.at(same.front()))
            if (traffic_ != nullptr) traffic_->add(route.from, route.to, floats_in(*tuple));
      }
    }
    return set;
  }

  template <class F>
  auto here(const Key& key, F&& body) const {
    return at_key([this] { return describe(plan_); }, key, std::forward<F>(body));
  }

  const Plan& plan_;
  const std::vector<const Set*> inputs_;
  Traffic* traffic_;
};

/// Each tuple is at all the sites that the placement names, and at no other; summands may be
/// missing at some. No key occurs twice at a site unless summands wait there.
template <class Payload>
void verify(const Plan& plan, const PhysicalSet<Payload>& set) {
  std::unordered_map<Key, std::vector<int>, KeyHash> sites;
  for (int site = 0; site < plan.sites(); ++site)
    for (const auto& tuple : set.at[site]) {
      std::vector<int>& at = sites[tuple.key];
      TESSERA_REQUIRE(PlanError, at.empty() || at.back() != site || !plan.pending().empty(),
                      "{}: key {} occurs twice; keys must be unique", describe(plan),
                      to_string(tuple.key));
      if (at.empty() || at.back() != site) at.push_back(site);
    }
  for (const auto& [key, at] : sites) {
    const std::vector<int> holders = plan.placement().holders(key);
    const bool right = plan.pending().empty()
                           ? at == holders
                           : std::includes(holders.begin(), holders.end(), at.begin(), at.end());
    TESSERA_INVARIANT(right, "{}: key {} is at sites {}, not at {}", describe(plan), to_string(key),
                      fmt::join(at, ", "), fmt::join(holders, ", "));
  }
}

}  // namespace

template <class Payload>
PhysicalSet<Payload> evaluate(const Plan& plan, Traffic* traffic) {
  const std::vector<Plan> order = in_order(plan);
  ReaderCounts readers = count_readers({plan});
  std::unordered_map<const Plan::Node*, PhysicalSet<Payload>> results;
  for (const Plan& node : order) {
    std::vector<const PhysicalSet<Payload>*> inputs;
    for (const Plan& input : inputs_of(operator_of(node)))
      inputs.push_back(&results.at(&input.node()));
    PhysicalSet<Payload> set =
        std::visit(Evaluator<Payload>(node, inputs, traffic), operator_of(node));
    sort_by_key(set);
    verify(node, set);
    results[&node.node()] = std::move(set);
    for (const Plan& input : inputs_of(operator_of(node)))
      if (--readers[&input.node()] == 0) results.erase(&input.node());
  }
  return std::move(results.at(&plan.node()));
}

template PhysicalSet<Tile> evaluate(const Plan&, Traffic*);
template PhysicalSet<TileType> evaluate(const Plan&, Traffic*);

Relation interpret(const Plan& plan, Traffic* traffic) {
  TESSERA_REQUIRE(PlanError, plan.pending().empty(),
                  "the result of a plan must be fully summed, but {} leaves partial sums",
                  describe(plan));
  const PhysicalSet<Tile> set = evaluate<Tile>(plan, traffic);
  std::map<Key, std::vector<Tile>> whole;
  for (const auto& tuples : set.at)
    for (const auto& tuple : tuples) whole.emplace(tuple.key, tuple.tiles);
  std::vector<Tuple> tuples;
  for (auto& [key, tiles] : whole) tuples.push_back({key, std::move(tiles)});
  return settle(plan.logical(), std::move(tuples));
}

}  // namespace tessera::ia
