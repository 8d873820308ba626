#include "optimizer/search.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/stop.h"
#include "ia/list_tuples.h"
#include "optimizer/grids.h"

namespace tessera::optimizer {
namespace {

constexpr std::size_t most_read = 1000;    // placements of an input that an operator tries to read
constexpr std::size_t most_followed = 24;  // and that one without a choice of its own leaves it at
constexpr std::size_t most_tried = 8;      // ways to compute a result that is wanted at a place
constexpr std::size_t most_owned = 4;  // results in summands whose owners are looked for anywhere
constexpr double most_moved = 40;      // places of a join's result that it is moved from
constexpr double tuples_moved = 5000;  // and tuples that this is counted of, together

bool splittable(const ia::Aggregate& aggregate) {
  return std::all_of(aggregate.kernels.begin(), aggregate.kernels.end(), [](const KernelCall& k) {
    return k.properties().associative && k.properties().commutative;
  });
}

std::vector<int> inverse(const std::vector<int>& picked, int arity) {
  std::vector<int> to(static_cast<std::size_t>(arity), -1);
  for (std::size_t i = 0; i < picked.size(); ++i) to[picked[i]] = static_cast<int>(i);
  return to;
}

std::int64_t pair(int node, int place) { return std::int64_t{node} << 32 | std::uint32_t(place); }

}  // namespace

Search::Search(const Skeleton& skeleton, const OptimizerOptions& options, Allowed allowed)
    : skeleton_(skeleton),
      options_(options),
      allowed_(std::move(allowed)),
      costs_(skeleton, options),
      initial_(skeleton.nodes.size(), -1),
      at_(skeleton.nodes.size(), -1),
      depends_on_(skeleton.nodes.size()),
      dependents_(skeleton.nodes.size()),
      known_(skeleton.nodes.size()),
      is_read_(skeleton.nodes.size(), false),
      sides_(skeleton.nodes.size()),
      result_(skeleton.nodes.size()),
      pulled_(skeleton.nodes.size()),
      spread_(skeleton.nodes.size()),
      grids_(skeleton.nodes.size()),
      computed_at_(skeleton.nodes.size(), -1) {
  const std::vector<int> readers = count_readers(skeleton);
  for (std::size_t v = 0; v < skeleton.nodes.size(); ++v) {
    const Skeleton::Node& node = skeleton.nodes[v];
    std::set<int> below;
    for (int input : node.inputs) {
      is_read_[input] = true;
      if (readers[input] > 1)
        below.insert(input);
      else
        below.insert(depends_on_[input].begin(), depends_on_[input].end());
    }
    depends_on_[v].assign(below.begin(), below.end());
    for (int shared : below) dependents_[shared].push_back(static_cast<int>(v));
    now_.push_back(&known_[v][{}]);
    if (readers[v] > 1) shared_.push_back(static_cast<int>(v));
    if (node.inputs.size() == 2) ++joins_;
    if (!std::holds_alternative<ia::Input>(ia::operator_of(node.plan))) continue;
    const std::optional<Placement> placed =
        node.made        ? node.made->placement()
        : options.placed ? options.placed(node.plan.logical())
                         : ia::round_robin(skeleton.sites)(node.plan.logical());
    if (placed) initial_[v] = costs_.number(*placed);
  }
}

// --- the options of a node ---------------------------------------------------------------------

std::optional<Search::Option> Search::aggregate_from(int node, int input_place) {
  Option option;
  option.place = result_place(node, input_place);
  if (option.place < 0) return std::nullopt;
  option.pending = costs_.placement(option.place).has_partials();
  option.inputs[0] = input_place;
  option.cost = best(skeleton_.nodes[node].inputs[0], input_place).cost;
  if (option.cost == infinite) return std::nullopt;
  option.cost += costs_.compute(node, input_place);
  return option;
}

void Search::aggregate_options(int node, std::vector<Option>& into) {
  const auto& aggregate = std::get<ia::Aggregate>(ia::operator_of(costs_.plan(node)));
  const int input = skeleton_.nodes[node].inputs[0];
  std::unordered_set<int> tried;
  const auto attempt = [&](int place) {
    if (!tried.insert(place).second) return;
    if (const auto option = aggregate_from(node, place)) into.push_back(*option);
  };
  for (int place : read_places(input, most_read)) attempt(place);
  // Where summands are left, products are only worth folding where they were computed.
  if (movable_from(input) > 0)
    for (const Placement& grid : grids_[input]) {
      const int place = costs_.number(grid);
      const int result = result_place(node, place);
      if (result >= 0 && !costs_.placement(result).has_partials()) attempt(place);
    }
  // Groups brought together beforehand, as table 1 has it.
  if (grids_[node].empty()) grids_[node] = grids(costs_.frontier(node), skeleton_.sites, 60);
  for (const Placement& grid : grids_[node])
    attempt(costs_.number(grid.renumber(aggregate.group_by, Axis::Kind::copy)));
  attempt(costs_.number(Placement::all(skeleton_.sites)));
}

/// Where an operator of one input leaves its result when that lies at a place; -1 if it must not.
int Search::result_place(int node, int input_place) {
  const auto [known, added] = result_[node].try_emplace(input_place, -1);
  if (!added) return known->second;
  const Skeleton::Node& what = skeleton_.nodes[node];
  const ia::Operator& op = ia::operator_of(what.plan);
  const Placement from = costs_.placement(input_place);
  if (const auto* aggregate = std::get_if<ia::Aggregate>(&op)) {
    if (from.is_scattered()) return -1;
    const Placement at =
        from.renumber(inverse(aggregate->group_by, costs_.plan(what.inputs[0]).type().arity()),
                      Axis::Kind::partial);
    const bool split = splittable(*aggregate) && !options_.disabled.contains("aggregate_twice");
    if (at.has_partials() && !split) return -1;
    return known->second = costs_.number(at);
  }
  const auto* map = std::get_if<ia::Map>(&op);
  if (std::holds_alternative<ia::Filter>(op) || (map != nullptr && !map->branches.front().keys))
    return known->second = input_place;
  if (from.is_scattered()) return -1;
  try {
    const ia::Plan& below = costs_.plan(what.inputs[0]);
    const ia::Plan moved = ia::make(ia::Shuffle{below, from}, below.logical());
    const ia::Plan result = ia::make(ia::with_inputs(op, {moved}), what.plan.logical());
    return known->second = costs_.number(result.placement());
  } catch (const PlanError&) {
    return -1;  // it does not lie right for this operator
  }
}

std::optional<Search::Option> Search::unary_from(int node, int input_place) {
  Option option;
  option.place = result_place(node, input_place);
  if (option.place < 0) return std::nullopt;
  option.inputs[0] = input_place;
  option.cost = best(skeleton_.nodes[node].inputs[0], input_place).cost;
  if (option.cost == infinite) return std::nullopt;
  option.cost += costs_.compute(node, option.place);
  return option;
}

void Search::unary_options(int node, std::vector<Option>& into) {
  const int input = skeleton_.nodes[node].inputs[0];
  std::unordered_set<int> tried;
  const auto attempt = [&](int place) {
    if (!tried.insert(place).second) return;
    if (const auto option = unary_from(node, place)) into.push_back(*option);
  };
  for (int place : read_places(input, most_followed)) attempt(place);
  if (std::holds_alternative<ia::Concat>(ia::operator_of(costs_.plan(node)))) {
    if (grids_[node].empty()) grids_[node] = grids(costs_.frontier(node), skeleton_.sites, 60);
    for (const Placement& grid : grids_[node]) {
      const int from = pulled_back(node, costs_.number(grid));
      if (from >= 0) attempt(from);
    }
  }
  if (into.empty()) attempt(costs_.number(Placement::all(skeleton_.sites)));
}

/// Where the input of a unary operator would have to lie for its result to lie as wanted.
int Search::pulled_back(int node, int place) {
  const auto [known, added] = pulled_[node].try_emplace(place, -1);
  if (!added) return known->second;
  const ia::Operator& op = ia::operator_of(costs_.plan(node));
  const Placement wanted = costs_.placement(place);
  if (wanted.is_scattered()) return -1;
  if (std::holds_alternative<ia::Filter>(op) || std::holds_alternative<ia::Fill>(op))
    return known->second = place;
  if (const auto* concat = std::get_if<ia::Concat>(&op)) {
    std::vector<int> to;
    for (int i = 0; i < concat->input.type().arity(); ++i)
      if (i != concat->key_component) to.push_back(i);
    return known->second = costs_.number(wanted.renumber(to, Axis::Kind::copy));
  }
  const auto* map = std::get_if<ia::Map>(&op);
  if (map == nullptr) return -1;
  if (!map->branches.front().keys) return known->second = place;
  // Each component that is split on must be a component of the input, in all branches.
  const int outputs = map->branches.front().keys->output_arity();
  std::vector<int> to(static_cast<std::size_t>(outputs), -1);
  for (int o = 0; o < outputs; ++o)
    for (int i = 0; i < map->input.type().arity() && to[o] < 0; ++i)
      if (std::all_of(map->branches.begin(), map->branches.end(),
                      [&](const ia::Branch& b) { return equal(b.keys->components()[o], key(i)); }))
        to[o] = i;
  for (const Axis& axis : wanted.axes())
    for (const Digit& digit : axis.digits)
      if (to[digit.component] < 0) return -1;
  return known->second = costs_.number(wanted.renumber(to, Axis::Kind::copy));
}

int Search::spread(int node, int place) {
  const auto [known, added] = spread_[node].try_emplace(place, -1);
  if (added) {
    const Placement at = costs_.placement(place);
    known->second = costs_.number(spread_out(at, costs_.frontier(node)));
  }
  return known->second;
}

const std::vector<Search::Option>& Search::naturals(int node) {
  std::optional<std::vector<Option>>& known = now_[node]->naturals;
  if (known) return *known;
  std::vector<Option> options;
  const ia::Operator& op = ia::operator_of(costs_.plan(node));
  if (std::holds_alternative<ia::Input>(op)) {
    if (initial_[node] >= 0) {
      options.push_back({initial_[node], false, 0, {-1, -1}});
    } else {
      for (const Placement& grid : grids(costs_.frontier(node), skeleton_.sites, 60))
        options.push_back({costs_.number(grid), false, 0, {-1, -1}});
    }
  } else if (std::holds_alternative<ia::Join>(op)) {
    join_options(node, options);
  } else if (std::holds_alternative<ia::Aggregate>(op)) {
    aggregate_options(node, options);
  } else {
    unary_options(node, options);
  }
  prune(node, options);
  known = std::move(options);
  return *known;
}

/// Cheapest first, or whole cheapest first where somebody reads them, one for each place, and none
/// that is no cheaper than moving there from the best: but for joins, of whose results it takes
/// long to say what moving costs.
void Search::prune(int node, std::vector<Option>& options) {
  const bool join = std::holds_alternative<ia::Join>(ia::operator_of(costs_.plan(node)));
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.cost < b.cost; });
  std::unordered_set<std::int64_t> seen;
  const auto whole =
      std::find_if(options.begin(), options.end(), [](const Option& o) { return !o.pending; });
  const std::optional<Option> cheapest =
      whole != options.end() ? std::optional(*whole) : std::nullopt;
  std::erase_if(options, [&](const Option& option) {
    if (!seen.insert(pair(option.pending ? 1 : 0, option.place)).second) return true;
    if (option.pending || !cheapest || option.place == cheapest->place || join) return false;
    return option.cost > cheapest->cost &&
           cheapest->cost + costs_.move(node, cheapest->place, option.place) <= option.cost;
  });
  if (join || !is_read_[node]) return;
  // What is left in summands counts with what it takes to fold them.
  for (Option& option : options)
    option.whole =
        option.pending ? finish(node, option, spread(node, option.place)).cost : option.cost;
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.whole < b.whole; });
}

/// From how many of the places where a node is computed cheapest it is worth asking what moving the
/// result costs. A product has many more tuples than what it is made of: it is rather computed
/// where it is wanted, and the more tuples there are the longer it takes to ask.
std::size_t Search::movable_from(int node) const {
  if (skeleton_.nodes[node].inputs.size() < 2) return most_read;
  const double tuples = std::max(1.0, ia::estimated_tuples(costs_.plan(node).logical()));
  return static_cast<std::size_t>(std::min(most_moved, tuples_moved / tuples));
}

// --- where results are to be had ---------------------------------------------------------------

std::vector<int> Search::read_places(int node, std::size_t most) {
  std::vector<int> places;
  if (at_[node] >= 0) return {at_[node]};
  for (const Option& option : naturals(node)) {
    if (places.size() >= most) break;
    const int place = option.pending ? spread(node, option.place) : option.place;
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  return places;
}

Search::Way Search::finish(int node, const Option& option, int place) {
  Way way{option, -1, infinite};
  if (!option.pending) {
    if (option.place != place && movable_from(node) == 0) return way;
    way.cost = option.cost + costs_.move(node, option.place, place);
    return way;
  }
  const Placement wanted = costs_.placement(place);
  const auto through = [&](int via) {
    const double cost = option.cost + costs_.reduce(node, option.inputs[0], option.place, via) +
                        costs_.move(node, via, place);
    if (cost < way.cost) way = {option, via, cost};
  };
  through(place);
  through(spread(node, option.place));
  if (wanted.has_copies() && !wanted.is_scattered()) through(spread(node, place));
  return way;
}

Search::Way Search::best_computed(int node, int place) {
  std::unordered_map<int, Way>& computed = now_[node]->computed;
  const auto known = computed.find(place);
  if (known != computed.end()) return known->second;
  const Way found = find_best(node, place);
  return computed[place] = found;
}

Search::Way Search::find_best(int node, int place) {
  refuse_if_stopped("comparing placements");
  Way found;
  const auto consider = [&](const Option& option) {
    if (option.cost >= found.cost) return;
    const Way way = finish(node, option, place);
    if (way.cost < found.cost) found = way;
  };
  const ia::Operator& op = ia::operator_of(costs_.plan(node));
  const bool join = std::holds_alternative<ia::Join>(op);
  const Placement wanted = costs_.placement(place);
  if (std::holds_alternative<ia::Input>(op) && initial_[node] < 0) {
    // A free input lies where it is wanted, or so that only its copies are sent.
    const Placement alone =
        wanted.has_copies() ? spread_out(wanted, costs_.frontier(node)) : wanted;
    consider({costs_.number(alone), false, 0, {-1, -1}});
    return found;
  }
  const auto consider_naturals = [&] {
    const std::vector<Option>& options = naturals(node);
    if (!join) {
      std::size_t left = most_tried;
      for (const Option& option : options) {
        if (left == 0 && option.place != place) continue;
        consider(option);
        if (left > 0) --left;
      }
      return;
    }
    const auto there = std::find_if(options.begin(), options.end(),
                                    [&](const Option& option) { return option.place == place; });
    if (there != options.end()) consider(*there);
    // What can be computed where it is wanted is moved only from where it is much cheaper.
    const double rough = found.cost < infinite ? costs_.rough_move(node) : 0;
    std::size_t left = std::max<std::size_t>(1, movable_from(node));
    for (const Option& option : options) {
      if (option.cost + rough >= found.cost || left-- == 0) break;
      consider(option);
    }
  };
  if (wanted.is_scattered()) {
    consider_naturals();
    return found;
  }
  // Computed right there first: what is dearer than that need not be looked at.
  if (join) {
    if (const auto option = join_at(node, place)) consider(*option);
    // A result with copies may be computed once and sent.
    if (wanted.has_copies() && !wanted.is_all())
      if (const auto option = join_at(node, spread(node, place))) consider(*option);
  } else if (const auto* aggregate = std::get_if<ia::Aggregate>(&op)) {
    const Placement from = wanted.renumber(aggregate->group_by, Axis::Kind::copy);
    if (const auto option = aggregate_from(node, costs_.number(from))) consider(*option);
  } else if (const int from = pulled_back(node, place); from >= 0) {
    if (const auto option = unary_from(node, from)) consider(*option);
  }
  consider_naturals();
  return found;
}

Search::Way Search::best(int node, int place) {
  if (at_[node] < 0) return best_computed(node, place);
  Way way;
  way.option.place = at_[node];
  way.option.cost = 0;
  way.cost = costs_.move(node, at_[node], place);
  return way;
}

Search::Way Search::best_anywhere(int node) {
  std::optional<Way>& known = now_[node]->anywhere;
  if (known) return *known;
  Way found;
  const auto consider = [&](const Option& option, int place) {
    const Way way = finish(node, option, place);
    if (way.cost < found.cost) found = way;
  };
  std::size_t left = most_owned;
  for (const Option& option : naturals(node)) {
    if (option.cost >= found.cost) continue;
    if (!option.pending) {
      consider(option, option.place);
      continue;
    }
    consider(option, spread(node, option.place));
    if (left == 0) continue;
    --left;
    for (const Placement& grid : grids_[node]) consider(option, costs_.number(grid));
  }
  known = found;
  return found;
}

}  // namespace tessera::optimizer
