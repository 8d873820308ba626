#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/check.h"
#include "base/stop.h"
#include "exec/moves.h"
#include "exec/new_keys.h"
#include "exec/task_order.h"
#include "exec/tuples.h"
#include "ia/plan_node.h"
#include "tra/join_pairs.h"
#include "tra/plan_node.h"

// The physical operators over keys: as ia::evaluate does it over tiles, in the same order, but each
// step of work becomes a task, and what only changes keys becomes nothing at all.

namespace tessera::exec {
namespace {

/// Two tuples that join. Its own key is that of the result before it is renamed.
struct Pair {
  KeyId own_key, key;
  ValueId left, right;
};

class Expander {
 public:
  explicit Expander(const std::vector<ia::Plan>& roots)
      : roots_(roots),
        order_(ia::in_order(roots)),
        sites_(roots.front().sites()),
        builder_(roots.front().sites()),
        keys_(builder_.graph().keys),
        readers_(ia::count_readers(roots)) {}

  TaskGraph expand() {
    for (const ia::Plan& plan : order_) {
      plan_ = &plan;
      Tuples tuples = std::visit(*this, operator_of(plan));
      for (auto& at : tuples) sort_by_key(at, keys_);
      tuples_[&plan.node()] = std::move(tuples);
      forget_inputs(plan);
    }
    for (std::size_t r = 0; r < roots_.size(); ++r)
      collect_outputs(static_cast<int>(r), of(roots_[r]));
    builder_.graph().plans = roots_;
    renumber(builder_.graph(), depth_first(builder_.graph()));
    return std::move(builder_.graph());
  }

  Tuples operator()(const ia::Input&) {
    const auto& input = std::get<op::Input>(tessera::operator_of(plan_->logical()));
    TESSERA_REQUIRE(PlanError, input.relation.has_value() || input.source,
                    "{} has a type but no tuples: the plan can be explained, but not run",
                    describe_step(*plan_));
    Tuples result(sites_);
    std::vector<int> holders;
    if (input.source) {
      for_each_tuple(input, [&](const BasicTuple<TileType>& tuple) {
        const KeyId key = keys_.add(tuple.key);
        plan_->placement().holders(tuple.key, holders);
        for (int site : holders)
          result[site].push_back({key, builder_.give(site, input, key, tuple.tiles)});
      });
      return result;
    }
    for (const tessera::Tuple& tuple : input.relation->tuples()) {
      const KeyId key = keys_.add(tuple.key);
      plan_->placement().holders(tuple.key, holders);
      for (int site : holders)
        result[site].push_back({key, builder_.give(site, input, key, tuple.tiles)});
    }
    return result;
  }

  Tuples operator()(const ia::Broadcast& move) { return move_to(move.input, plan_->placement()); }
  Tuples operator()(const ia::Shuffle& move) { return move_to(move.input, move.to); }

  Tuples operator()(const ia::Join& join) {
    const int op = builder_.add_step(*plan_);
    NewKeys new_keys(*plan_);
    Tuples result(sites_);
    for (int site = 0; site < sites_; ++site)
      for (const Pair& pair : pairs_at(site, join, new_keys))
        result[site].push_back(
            {pair.key, builder_.product(op, site, pair.own_key, pair.left, pair.right)});
    return result;
  }

  Tuples operator()(const ia::Aggregate& aggregate) {
    const int op = builder_.add_step(*plan_);
    Tuples result(sites_);
    for (int site = 0; site < sites_; ++site)
      result[site] = folded(
          op, site, aggregate, of(aggregate.input)[site],
          [&](const Tuple& first) { return first.value; },
          [&](ValueId so_far, const Tuple& next) {
            return builder_.fold(op, site, next.key, so_far, next.value);
          });
    return result;
  }

  Tuples operator()(const ia::JoinAggregate& both) {
    const int op = builder_.add_step(*plan_);
    NewKeys new_keys(both.aggregate.input);
    Tuples result(sites_);
    for (int site = 0; site < sites_; ++site)
      result[site] = folded(
          op, site, both.aggregate, pairs_at(site, both.join(), new_keys),
          [&](const Pair& first) {
            return builder_.product(op, site, first.own_key, first.left, first.right);
          },
          [&](ValueId so_far, const Pair& next) {
            return builder_.fold_product(op, site, next.own_key, so_far, next.left, next.right);
          });
    return result;
  }

  Tuples operator()(const ia::Concat& concat) {
    const int op = builder_.add_step(*plan_);
    Tuples result(sites_);
    for (int site = 0; site < sites_; ++site) {
      std::map<Key, std::map<std::int64_t, ValueId>> groups;
      for (const Tuple& tuple : of(concat.input)[site]) {
        const Key key = keys_[tuple.key];
        Key group;
        for (std::size_t i = 0; i < key.size(); ++i)
          if (static_cast<int>(i) != concat.key_component) group.push_back(key[i]);
        groups[group][key[concat.key_component]] = tuple.value;
      }
      for (const auto& [key, members] : groups) {
        std::vector<ValueId> arrays;
        for (const auto& [at, value] : members) {
          require_next(concat, key, static_cast<std::int64_t>(arrays.size()), at);
          arrays.push_back(value);
        }
        const KeyId id = keys_.add(key);
        result[site].push_back({id, builder_.concat(op, site, id, arrays)});
      }
    }
    return result;
  }

  Tuples operator()(const ia::Filter& filter) {
    Tuples result = of(filter.input);
    for (auto& at : result)
      std::erase_if(
          at, [&](const Tuple& tuple) { return !filter.predicate.evaluate(keys_[tuple.key]); });
    return result;
  }

  Tuples operator()(const ia::Map& map) {
    const int op = builder_.add_step(*plan_);
    NewKeys new_keys(*plan_);
    Tuples result(sites_);
    for (int site = 0; site < sites_; ++site)
      for (const Tuple& tuple : of(map.input)[site])
        for (std::size_t b = 0; b < map.branches.size(); ++b) {
          const ia::Branch& branch = map.branches[b];
          const int number = static_cast<int>(b);
          const KeyId key = branch.keys
                                ? keys_.add(new_keys.rename(*branch.keys, keys_[tuple.key], number))
                                : tuple.key;
          const bool same_tiles = !branch.cut && branch.arrays.empty();
          result[site].push_back(
              {key,
               same_tiles ? tuple.value : builder_.map(op, number, site, tuple.key, tuple.value)});
        }
    return result;
  }

  Tuples operator()(const ia::Fill& fill) {
    Tuples result = of(fill.input);
    if (fill.input.type().presence != Presence::sparse) return result;
    const int op = builder_.add_step(*plan_);
    const TypesAt types = types_everywhere(*listed_without_limit(fill.input.logical()));
    std::unordered_map<Key, bool, KeyHash> there;
    for (const auto& at : result)
      for (const Tuple& tuple : at) there[keys_[tuple.key]] = true;
    const Key& frontier = plan_->type().frontier;
    Key key(frontier.size(), 0);
    std::vector<int> holders;
    for (bool more = count_below(frontier) > 0; more; more = advance(key, frontier)) {
      refuse_if_stopped("tasks were planned");
      if (there.contains(key)) continue;
      const KeyId id = keys_.add(key);
      plan_->placement().holders(key, holders);
      for (int site : holders)
        result[site].push_back({id, builder_.fill(op, site, id, types(key))});
    }
    return result;
  }

 private:
  const Tuples& of(const ia::Plan& plan) const { return tuples_.at(&plan.node()); }

  /// The pairs that join at a site, in order of their keys.
  std::vector<Pair> pairs_at(int site, const ia::Join& join, NewKeys& new_keys) {
    std::vector<Pair> pairs;
    for_each_pair(
        of(join.left)[site], of(join.right)[site], join.left_keys, join.right_keys,
        join.right.type().arity(), [&](const Tuple& tuple) { return keys_[tuple.key]; },
        [&](const Key& key, const Tuple& l, const Tuple& r) {
          const KeyId own = keys_.add(key);
          const KeyId renamed = join.keys ? keys_.add(new_keys.rename(*join.keys, key)) : own;
          pairs.push_back({own, renamed, l.value, r.value});
        });
    sort_by_key(pairs, keys_);
    return pairs;
  }

  Tuples move_to(const ia::Plan& input, const Placement& to) {
    return moved(builder_, builder_.add_step(*plan_), input, of(input), to);
  }

  /// Chains of folding steps, one a group, each in order of the keys of its members.
  template <class Member, class First, class Next>
  std::vector<Tuple> folded(int op, int site, const ia::Aggregate& aggregate,
                            const std::vector<Member>& members, const First& first,
                            const Next& next) {
    std::unordered_map<Key, std::size_t, KeyHash> groups;
    std::vector<Tuple> result;
    for (const Member& member : members) {
      const auto key = keys_.components(member.key);
      Key group;
      for (int i : aggregate.group_by) group.push_back(key[i]);
      const auto [at, added] = groups.emplace(group, result.size());
      if (added)
        result.push_back({keys_.add(group), first(member)});
      else
        result[at->second].value = next(result[at->second].value, member);
    }
    if (!aggregate.finish.empty())
      for (Tuple& tuple : result) tuple.value = builder_.finish(op, site, tuple.key, tuple.value);
    return result;
  }

  /// The arrays of a group follow each other without gaps.
  void require_next(const ia::Concat& concat, const Key& group, std::int64_t expected,
                    std::int64_t at) const {
    if (at == expected) return;
    const auto member = [&](std::int64_t component) {
      Key key(group.begin(), group.begin() + concat.key_component);
      key.push_back(component);
      for (const auto* i = group.begin() + concat.key_component; i != group.end(); ++i)
        key.push_back(*i);
      return to_string(key);
    };
    throw PlanError(fmt::format("{}: key {} is missing, so the array at {} has no predecessor",
                                describe_step(*plan_), member(expected), member(at)));
  }

  /// Drops the tuples that nobody else reads.
  void forget_inputs(const ia::Plan& plan) {
    for (const ia::Plan& input : inputs_of(operator_of(plan)))
      if (--readers_.at(&input.node()) == 0) tuples_.erase(&input.node());
  }

  void collect_outputs(int result, const Tuples& tuples) {
    std::vector<Tuple> all;
    for (const auto& at : tuples) all.insert(all.end(), at.begin(), at.end());
    sort_by_key(all, keys_);
    for (const Tuple& tuple : all)
      builder_.graph().outputs.push_back({result, tuple.key, tuple.value});
  }

  std::vector<ia::Plan> roots_;
  std::vector<ia::Plan> order_;
  int sites_;
  GraphBuilder builder_;
  KeyStore& keys_;
  const ia::Plan* plan_ = nullptr;  // the operator that is being expanded
  ia::ReaderCounts readers_;
  std::unordered_map<const ia::Plan::Node*, Tuples> tuples_;
};

}  // namespace

std::string describe_step(const ia::Plan& plan) {
  // Two operators in one have one name, as in EXPLAIN.
  if (std::holds_alternative<ia::JoinAggregate>(ia::operator_of(plan))) return ia::describe(plan);
  const tessera::Operator& logical = tessera::operator_of(plan.logical());
  const std::vector<tessera::Plan> wanted = tessera::inputs_of(logical);
  const std::vector<ia::Plan> inputs = ia::inputs_of(ia::operator_of(plan));
  bool same = wanted.size() == inputs.size();
  for (std::size_t i = 0; same && i < inputs.size(); ++i)
    same = inputs[i].logical().is_same(wanted[i]);
  return same ? tessera::describe(logical) : ia::describe(plan);
}

void require_results(const std::vector<ia::Plan>& plans) {
  TESSERA_REQUIRE(PlanError, !plans.empty(), "no plan is given to run");
  for (const ia::Plan& plan : plans) {
    TESSERA_REQUIRE(PlanError, plan.pending().empty(),
                    "the result of a plan must be fully summed, but {} leaves partial sums",
                    ia::describe(plan));
    TESSERA_REQUIRE(PlanError, plan.sites() == plans.front().sites(),
                    "plans that run together must have the same number of sites, not {} and {}",
                    plans.front().sites(), plan.sites());
  }
}

TaskGraph expand(const std::vector<ia::Plan>& plans) {
  require_results(plans);
  return Expander(plans).expand();
}

}  // namespace tessera::exec
