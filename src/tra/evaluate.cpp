#include "tra/evaluate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/check.h"
#include "base/stop.h"
#include "tra/key_origin.h"
#include "tra/tuple_operations.h"

namespace tessera {

bool may_skip_zeros(const std::vector<KernelCall>& folds) {
  return std::all_of(folds.begin(), folds.end(),
                     [](const KernelCall& fold) { return fold.properties().identity == 0.0; });
}

bool may_skip_zeros(const std::vector<Apply>& transformation) {
  return std::all_of(transformation.begin(), transformation.end(), [](const Apply& a) {
    return !a.kernel || a.kernel->properties().zero_preserving;
  });
}

bool may_skip_zeros(const op::Join& join, bool left) {
  const auto left_columns = static_cast<int>(join.left.type().columns.size());
  return std::all_of(join.projection.begin(), join.projection.end(), [&](const Apply& apply) {
    if (!apply.kernel) return false;
    const std::vector<int>& arguments = apply.kernel->properties().annihilated_by;
    return std::any_of(arguments.begin(), arguments.end(), [&](int argument) {
      const int column = apply.columns[argument];
      return (column < left_columns) == left;
    });
  });
}

namespace {

template <class Payload>
using Tuples = std::vector<BasicTuple<Payload>>;

constexpr const char* listing = "tuples were listed";

template <class Payload>
void sort_by_key(Tuples<Payload>& tuples) {
  StopPoll poll(listing);
  std::sort(tuples.begin(), tuples.end(), [&](const auto& a, const auto& b) {
    poll.passed(8);
    return a.key < b.key;
  });
}

template <class Payload>
TupleSet<Payload> filled_in(const TupleSet<Payload>& set, bool may_skip) {
  return set.type.presence == Presence::sparse && !may_skip ? complete(set) : set;
}

/// Sets frontier and presence of a relation whose keys came out of a filter or a key function.
template <class Payload>
void settle_keys(TupleSet<Payload>& set, int arity) {
  set.type.frontier = frontier_of(set.tuples, arity);
  const bool holes = first_hole(set.tuples, set.type.frontier).has_value();
  set.type.presence = holes ? Presence::partial : Presence::continuous;
}

template <class Payload>
class Evaluator {
 public:
  using Set = TupleSet<Payload>;
  Evaluator(const Operator& op, const std::vector<const Set*>& inputs, const RelationType& result)
      : op_(op), inputs_(inputs), result_(result) {}

  Set operator()(const op::Input&) const {
    throw InternalError("an input is not evaluated, it is given");
  }

  Set operator()(const op::Aggregate& aggregate) const {
    const Set input = filled_in(*inputs_[0], may_skip_zeros(aggregate.kernels));
    std::map<Key, std::vector<Payload>> groups;
    for (const auto& tuple : input.tuples) {
      refuse_if_stopped(listing);
      const Key group = pick(tuple.key, aggregate.group_by);
      const auto [place, added] = groups.emplace(group, tuple.tiles);
      if (added) continue;
      at_key([&] { return describe(op_); }, tuple.key,
             [&] {
               for (std::size_t c = 0; c < tuple.tiles.size(); ++c)
                 place->second[c] =
                     fold_tiles(aggregate.kernels[c], place->second[c], tuple.tiles[c]);
             });
    }
    Set set = with_type(input.type.presence);
    for (auto& [key, tiles] : groups) set.tuples.push_back({key, std::move(tiles)});
    if (input.type.presence == Presence::partial)
      settle_keys(set, result_.arity());
    else
      set.type.frontier = pick(input.type.frontier, aggregate.group_by);
    if (set.type.presence == Presence::sparse) {
      const TypesAt in = types_everywhere(input);
      check_groups(aggregate, in, input.type.frontier);
      set.absent_types = [in, by = aggregate.group_by,
                          arity = input.type.arity()](const Key& group) {
        Key member(arity, 0);  // all members of a group are of one type
        for (std::size_t i = 0; i < by.size(); ++i) member[by[i]] = group[i];
        return in(member);
      };
    }
    return set;
  }

  Set operator()(const op::Join& join) const {
    // Absent keys of a sparse side are zeros and those of a partial side are not there: next to
    // a partial side the zeros are filled in, so that in the result the two are not confused.
    const bool partial = inputs_[0]->type.presence == Presence::partial ||
                         inputs_[1]->type.presence == Presence::partial;
    const Set left = filled_in(*inputs_[0], may_skip_zeros(join, true) && !partial);
    const Set right = filled_in(*inputs_[1], may_skip_zeros(join, false) && !partial);
    const bool sparse =
        left.type.presence == Presence::sparse || right.type.presence == Presence::sparse;

    Set set = with_type(partial  ? Presence::partial
                        : sparse ? Presence::sparse
                                 : Presence::continuous);
    for_each_match(
        left.tuples, right.tuples, join.left_keys, join.right_keys, right.type.arity(),
        [&](const Key& key, const std::vector<Payload>& columns) {
          set.tuples.push_back({key, at_key([&] { return describe(op_); }, key,
                                            [&] { return project(join.projection, columns); })});
        });
    const std::vector<int> appended = appended_components(join.right_keys, right.type.arity());
    sort_by_key(set.tuples);
    if (partial) {
      settle_keys(set, result_.arity());
    } else {
      set.type.frontier = left.type.frontier;
      for (std::size_t i = 0; i < join.left_keys.size(); ++i) {
        std::int64_t& extent = set.type.frontier[join.left_keys[i]];
        extent = std::min(extent, right.type.frontier[join.right_keys[i]]);
      }
      for (int i : appended) set.type.frontier.push_back(right.type.frontier[i]);
    }
    if (set.type.presence == Presence::sparse)
      set.absent_types = [l = types_everywhere(left), r = types_everywhere(right), appended,
                          left_keys = join.left_keys, right_keys = join.right_keys,
                          projection = join.projection,
                          left_arity = left.type.arity()](const Key& key) {
        Key right_key(right_keys.size() + appended.size(), 0);
        for (std::size_t i = 0; i < right_keys.size(); ++i)
          right_key[right_keys[i]] = key[left_keys[i]];
        for (std::size_t i = 0; i < appended.size(); ++i)
          right_key[appended[i]] = key[left_arity + i];
        std::vector<TileType> columns = l(Key(key.begin(), key.begin() + left_arity));
        for (const TileType& type : r(right_key)) columns.push_back(type);
        return project(projection, columns);
      };
    return set;
  }

  Set operator()(const op::ReKey& rekey) const {
    return with_keys([&](const Key& key) { return rekey.function.evaluate(key); },
                     KeySet::box(inputs_[0]->type.frontier).rekey(rekey.function),
                     [&] { return origin_of(rekey.function, inputs_[0]->type.frontier); });
  }

  Set operator()(const op::Filter& filter) const {
    return with_keys(
        [&](const Key& key) {
          return filter.predicate.evaluate(key) ? std::optional<Key>(key) : std::nullopt;
        },
        KeySet::box(inputs_[0]->type.frontier).filter(filter.predicate),
        [] { return [](const Key& key) { return key; }; });
  }

  Set operator()(const op::Transform& transform) const {
    const Set input = filled_in(*inputs_[0], may_skip_zeros(transform.projection));
    Set set = with_type(input.type.presence);
    set.type.frontier = input.type.frontier;
    for (const auto& tuple : input.tuples)
      set.tuples.push_back(
          {tuple.key, at_key([&] { return describe(op_); }, tuple.key,
                             [&] { return project(transform.projection, tuple.tiles); })});
    if (set.type.presence == Presence::sparse)
      set.absent_types = [in = input.absent_types, projection = transform.projection](
                             const Key& key) { return project(projection, in(key)); };
    return set;
  }

  Set operator()(const op::Tile& tile) const {
    const Set& input = *inputs_[0];
    Set set = with_type(input.type.presence);
    set.type.frontier = input.type.frontier;
    set.type.frontier.push_back(tile.pieces);
    for (const auto& tuple : input.tuples)
      for (std::int64_t piece = 0; piece < tile.pieces; ++piece) {
        refuse_if_stopped(listing);
        BasicTuple<Payload> cut_out{tuple.key, {}};
        cut_out.key.push_back(piece);
        for (const Payload& array : tuple.tiles)
          cut_out.tiles.push_back(cut_piece(array, tile.dimension, tile.size, piece));
        set.tuples.push_back(std::move(cut_out));
      }
    if (set.type.presence == Presence::sparse)
      set.absent_types = [in = input.absent_types, tile](const Key& key) {
        std::vector<TileType> types = in(Key(key.begin(), key.end() - 1));
        for (TileType& type : types) type = cut_piece(type, tile.dimension, tile.size, key.back());
        return types;
      };
    return set;
  }

  Set operator()(const op::Concat& concat) const {
    const Set input = filled_in(*inputs_[0], false);
    std::vector<int> kept;
    for (int i = 0; i < input.type.arity(); ++i)
      if (i != concat.key_component) kept.push_back(i);
    std::map<Key, Tuples<Payload>> groups;
    for (const auto& tuple : input.tuples) groups[pick(tuple.key, kept)].push_back(tuple);

    Set set = with_type(input.type.presence);
    const KernelCall join_arrays("concat", {{"axis", std::int64_t{concat.dimension}}});
    for (auto& [key, members] : groups) {
      std::sort(members.begin(), members.end(), [&](const auto& a, const auto& b) {
        return a.key[concat.key_component] < b.key[concat.key_component];
      });
      for (std::size_t i = 0; i < members.size(); ++i)
        if (members[i].key[concat.key_component] != static_cast<std::int64_t>(i)) {
          Key missing = members[i].key;
          missing[concat.key_component] = static_cast<std::int64_t>(i);
          throw PlanError(
              fmt::format("{}: key {} is missing, so the array at {} has no predecessor",
                          describe(op_), to_string(missing), to_string(members[i].key)));
        }
      BasicTuple<Payload> joined{key, {}};
      for (std::size_t c = 0; c < input.type.columns.size(); ++c) {
        std::vector<Payload> arrays;
        for (const auto& member : members) arrays.push_back(member.tiles[c]);
        joined.tiles.push_back(at_key([&] { return describe(op_); }, key,
                                      [&] { return apply_kernel(join_arrays, arrays).front(); }));
      }
      set.tuples.push_back(std::move(joined));
    }
    if (input.type.presence == Presence::partial)
      settle_keys(set, result_.arity());
    else
      set.type.frontier = pick(input.type.frontier, kept);
    return set;
  }

 private:
  Set with_type(Presence presence) const {
    Set set;
    set.type = result_;
    set.type.presence = presence;
    return set;
  }

  /// Groups are of one shape, tiles included that are skipped because they are zeros: a group that
  /// does not fit is refused whether or not its tiles happen to be stored.
  void check_groups(const op::Aggregate& aggregate, const TypesAt& types_at,
                    const Key& frontier) const {
    std::map<Key, std::vector<TileType>> groups;
    Key key(frontier.size(), 0);
    do {
      refuse_if_stopped(listing);
      const std::vector<TileType> types = types_at(key);
      const auto [place, added] = groups.emplace(pick(key, aggregate.group_by), types);
      for (std::size_t c = 0; c < types.size() && !added; ++c)
        at_key([&] { return describe(op_); }, key,
               [&] { require_same_shape(aggregate.kernels[c], place->second[c], types[c]); });
    } while (advance(key, frontier));
  }

  /// Gives each tuple the key that `map` makes of its own, or drops it. `keys` describes the
  /// result for an input without holes, and `origin()` leads back from there.
  template <class F, class Origin>
  Set with_keys(F&& map, const KeySet& keys, const Origin& origin) const {
    const Set* input = inputs_[0];
    Set filled;
    bool stays_sparse = false;
    Key frontier;
    if (input->type.presence == Presence::sparse) {
      // Absent tiles stay zeros if the new keys have no holes; else only those are filled in.
      const Closedness closed = decide_closedness(keys);
      stays_sparse = closed.cardinality != 0 && closed.unique.answer == Answer::yes &&
                     closed.continuous.answer == Answer::yes && closed.frontier_known;
      frontier = closed.frontier;
      if (!stays_sparse) {
        filled = complete(*input);
        input = &filled;
      }
    }
    Set set = with_type(Presence::partial);
    std::unordered_map<Key, Key, KeyHash> seen;
    for (const auto& tuple : input->tuples) {
      refuse_if_stopped(listing);
      const std::optional<Key> key = map(tuple.key);
      if (!key) continue;
      for (std::int64_t component : *key)
        TESSERA_REQUIRE(PlanError, component >= 0 && component < max_key_component,
                        "{}: key {} becomes {}, which is not in the range 0 to 2^62", describe(op_),
                        to_string(tuple.key), to_string(*key));
      const auto [place, added] = seen.emplace(*key, tuple.key);
      TESSERA_REQUIRE(PlanError, added, "{}: keys {} and {} both map to {}; keys must be unique",
                      describe(op_), to_string(place->second), to_string(tuple.key),
                      to_string(*key));
      set.tuples.push_back({*key, tuple.tiles});
    }
    sort_by_key(set.tuples);
    settle_keys(set, result_.arity());
    if (stays_sparse) {
      set.type.presence = Presence::sparse;
      set.type.frontier = frontier;
      set.absent_types = [in = input->absent_types, from = origin()](const Key& to) {
        return in(from(to));
      };
    }
    return set;
  }

  const Operator& op_;
  const std::vector<const Set*>& inputs_;
  const RelationType& result_;
};

}  // namespace

template <class Payload>
TupleSet<Payload> evaluate(const Operator& op, const std::vector<const TupleSet<Payload>*>& inputs,
                           const RelationType& result) {
  // Nothing comes of nothing, whatever the other input is: zeros are something, no tuples are not.
  for (const TupleSet<Payload>* input : inputs) {
    const bool zeros =
        input->type.presence == Presence::sparse && count_below(input->type.frontier) > 0;
    if (!input->tuples.empty() || zeros) continue;
    TupleSet<Payload> nothing;
    nothing.type = result;
    nothing.type.frontier = Key(result.frontier.size(), 0);
    nothing.type.presence = Presence::continuous;
    return nothing;
  }
  TupleSet<Payload> set = std::visit(Evaluator<Payload>(op, inputs, result), op);
  const bool all_zero = set.type.presence == Presence::sparse && count_below(set.type.frontier) > 0;
  if (set.tuples.empty() && !all_zero) {
    set.type.frontier = Key(result.frontier.size(), 0);
    set.type.presence = Presence::continuous;
    set.absent_types = {};
  }
  return set;
}

template TupleSet<Tile> evaluate(const Operator&, const std::vector<const TupleSet<Tile>*>&,
                                 const RelationType&);
template TupleSet<TileType> evaluate(const Operator&, const std::vector<const TupleSet<TileType>*>&,
                                     const RelationType&);

}  // namespace tessera
