#include <algorithm>
#include <unordered_set>

#include "ia/join_placement.h"
#include "ia/list_tuples.h"
#include "optimizer/grids.h"
#include "optimizer/join_of_copies.h"
#include "optimizer/search.h"
#include "tessera/error.h"
#include "tra/plan_node.h"

// The ways to compute a join: where its pairs can meet, and what each side needs for that.

namespace tessera::optimizer {
namespace {

/// How many grids are tried: the fewer pairs there are, the faster each of them is costed; and the
/// more joins there are, the more often.
std::size_t grids_for(double pairs, std::size_t joins) {
  return std::max<std::size_t>(40, (pairs <= 100 ? 1000 : 400) / (joins * joins));
}
constexpr std::size_t most_lifted = 12;  // placements of an input that a join tries to follow
constexpr std::size_t most_copied = 3;   // and that copies of it are sent from

}  // namespace

Search::Sides Search::sides(int node, int place) {
  const auto [known, added] = sides_[node].try_emplace(place, Sides{-1, -1});
  if (!added) return known->second;
  const auto& join = std::get<ia::Join>(ia::operator_of(costs_.plan(node)));
  const Placement at = costs_.placement(place);
  if (join.keys || at.is_scattered() || at.has_partials() || (allowed_ && !allowed_(node, at)))
    return known->second;
  const auto [to_left, to_right] = components_of(join);
  for (const Axis& axis : at.axes()) {
    // One side alone must tell where on an axis a pair meets.
    const auto within = [&axis](const std::vector<int>& side) {
      return std::all_of(axis.digits.begin(), axis.digits.end(),
                         [&](const Digit& digit) { return side[digit.component] >= 0; });
    };
    if (!within(to_left) && !within(to_right)) {
      known->second.mixed = true;
      return known->second;
    }
  }
  return known->second = {costs_.number(at.renumber(to_left, Axis::Kind::copy)),
                          costs_.number(at.renumber(to_right, Axis::Kind::copy))};
}

std::optional<Search::Option> Search::join_at(int node, int place) {
  const Sides at = sides(node, place);
  if (at.left < 0) return std::nullopt;
  Option option{place, false, 0, {at.left, at.right}};
  const std::vector<int>& inputs = skeleton_.nodes[node].inputs;
  option.cost = best(inputs[0], at.left).cost;
  if (option.cost == infinite) return std::nullopt;
  option.cost += best(inputs[1], at.right).cost + costs_.compute(node, place);
  if (option.cost == infinite) return std::nullopt;
  return option;
}

std::optional<Search::Option> Search::join_of_copies_at(int node, int place) {
  if (!sides(node, place).mixed) return std::nullopt;
  const std::vector<int>& inputs = skeleton_.nodes[node].inputs;
  for (int v : {node, inputs[0], inputs[1]})
    if (!is_even(costs_.plan(v).logical()) || count_below(costs_.frontier(v)) == 0)
      return std::nullopt;
  Option option{.place = place, .cost = costs_.compute(node, place), .copied = true};
  for (int side = 0; side < 2; ++side) {
    double least = infinite;
    for (int from : read_places(inputs[side], most_copied)) {
      if (costs_.placement(from).is_scattered()) continue;
      const double cost = best(inputs[side], from).cost + costs_.copies(node, side, from, place);
      if (cost >= least) continue;
      least = cost;
      option.inputs[side] = from;
    }
    option.cost += least;
  }
  if (option.cost == infinite) return std::nullopt;
  return option;
}

void Search::join_options(int node, std::vector<Option>& into) {
  const auto& join = std::get<ia::Join>(ia::operator_of(costs_.plan(node)));
  if (join.keys) throw InternalError("a join that renames keys is not placed");
  std::unordered_set<int> tried;
  const auto attempt = [&](const Placement& at) {
    const int place = costs_.number(at);
    if (!tried.insert(place).second) return;
    const auto option = join_at(node, place);
    const auto of_copies = option ? std::nullopt : join_of_copies_at(node, place);
    if (option) into.push_back(*option);
    if (of_copies) into.push_back(*of_copies);
  };
  if (grids_[node].empty())
    grids_[node] =
        grids(costs_.frontier(node), skeleton_.sites,
              grids_for(ia::estimated_tuples(costs_.plan(node).logical()), joins_), join.left_keys);
  for (const Placement& grid : grids_[node]) attempt(grid);
  attempt(Placement::all(skeleton_.sites));
  const std::vector<int> names = ia::right_in_result(
      join.left_keys, join.right_keys, join.left.type().arity(), join.right.type().arity());
  for (int side = 0; side < 2; ++side)
    for (int place : read_places(skeleton_.nodes[node].inputs[side], most_lifted)) {
      const Placement& at = costs_.placement(place);
      if (at.is_scattered()) continue;
      // Copies of what is followed are put to use: the other side's components split them.
      const Placement lifted = side == 0 ? at : at.renumber(names, Axis::Kind::copy);
      attempt(lifted);
      for (const Placement& bound : bind_copies(lifted, costs_.frontier(node))) attempt(bound);
    }
}

}  // namespace tessera::optimizer
