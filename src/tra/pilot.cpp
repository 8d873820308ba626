#include "tra/pilot.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "base/odometer.h"
#include "base/stop.h"
#include "tra/evaluate.h"

namespace tessera {
namespace {

constexpr std::int64_t pilot_limit = 1'000'000;  // tuples that are listed one by one

/// The types of all tiles of a column, those of zeros that are not stored included.
std::vector<TileType> column_types(const TupleSet<TileType>& set, std::size_t column) {
  std::vector<TileType> types;
  for (const auto& tuple : set.tuples) types.push_back(tuple.tiles[column]);
  if (set.type.presence != Presence::sparse) return types;
  if (count_below(set.type.frontier) == static_cast<std::int64_t>(set.tuples.size())) return types;
  const TypesAt everywhere = types_everywhere(set);
  Key key(set.type.frontier.size(), 0);
  do {
    refuse_if_stopped("tuples were listed");
    types.push_back(everywhere(key)[column]);
  } while (advance(key, set.type.frontier));
  return types;
}

}  // namespace

bool changes_keys(const Operator& op) {
  return std::holds_alternative<op::Filter>(op) || std::holds_alternative<op::ReKey>(op);
}

std::int64_t known_count(const Key& frontier) {
  const bool unknown =
      std::find(frontier.begin(), frontier.end(), unknown_extent) != frontier.end();
  return unknown ? pilot_limit + 1 : count_below(frontier);
}

Closedness closed_list(const TupleSet<TileType>& set) {
  Closedness result;
  result.method = "enumeration";
  result.unique.answer = result.non_negative.answer = Answer::yes;
  result.frontier = set.type.frontier;
  result.frontier_known = true;
  result.cardinality = static_cast<std::int64_t>(set.tuples.size());
  const auto hole = first_hole(set.tuples, set.type.frontier);
  result.continuous.answer = hole ? Answer::no : Answer::yes;
  if (hole) {
    result.continuous.key = *hole;
    result.continuous.reason = fmt::format("key {} below the frontier {} is missing",
                                           to_string(*hole), to_string(set.type.frontier));
  }
  return result;
}

std::shared_ptr<const TupleSet<TileType>> make_pilot(const Operator& op, const RelationType& type) {
  if (const auto* input = std::get_if<op::Input>(&op))
    return input->relation ? std::make_shared<TupleSet<TileType>>(types_of(*input->relation))
                           : input->listing;
  if (!changes_keys(op) && known_count(type.frontier) > pilot_limit) return nullptr;
  std::vector<std::shared_ptr<const TupleSet<TileType>>> owned;
  std::vector<const TupleSet<TileType>*> inputs;
  for (const Plan& input : inputs_of(op)) {
    owned.push_back(listed(input));
    if (!owned.back()) return nullptr;
    inputs.push_back(owned.back().get());
  }
  return std::make_shared<TupleSet<TileType>>(evaluate<TileType>(op, inputs, type));
}

void refine(Plan::Node& node, const TupleSet<TileType>& pilot) {
  node.type.frontier = pilot.type.frontier;
  node.type.presence = pilot.type.presence;
  node.uniform = true;
  const bool listable = known_count(pilot.type.frontier) <= pilot_limit;
  for (std::size_t c = 0; c < node.type.columns.size() && listable; ++c) {
    const std::vector<TileType> types = column_types(pilot, c);
    if (types.empty()) continue;
    TileType bound = types.front();
    for (const TileType& type : types) {
      for (int d = 0; d < bound.shape.rank(); ++d)
        bound.shape[d] = std::max(bound.shape[d], type.shape[d]);
      if (type.sparse_dims != bound.sparse_dims) bound.sparse_dims = 0;
    }
    node.uniform = node.uniform && std::all_of(types.begin(), types.end(),
                                               [&](const TileType& type) { return type == bound; });
    node.type.columns[c].type = bound;
  }
  node.cardinality = {static_cast<std::int64_t>(pilot.tuples.size()), true};
  auto typed = std::make_shared<TupleSet<TileType>>(pilot);
  typed->type = node.type;
  node.pilot = std::move(typed);
}

std::vector<Column> listed_columns(const Operator& op, const TupleSet<TileType>& pilot) {
  std::vector<Column> columns;
  const std::vector<TileType> types = pilot.tuples.empty()
                                          ? pilot.absent_types(Key(pilot.type.frontier.size(), 0))
                                          : pilot.tuples.front().tiles;
  for (const TileType& type : types) columns.push_back({"", type});
  const auto* join = std::get_if<op::Join>(&op);
  const auto* transform = std::get_if<op::Transform>(&op);
  TESSERA_INVARIANT(join != nullptr || transform != nullptr, "{}", describe(op));
  std::size_t next = 0;
  for (const Apply& apply : join != nullptr ? join->projection : transform->projection)
    for (const std::string& name : apply.names) columns[next++].name = name;
  return columns;
}

std::shared_ptr<const TupleSet<TileType>> listed_without_limit(const Plan& plan) {
  if (plan.node().pilot) return plan.node().pilot;
  std::unordered_map<const Plan::Node*, std::shared_ptr<const TupleSet<TileType>>> lists;
  for (const Plan& node : in_order(plan)) {
    auto& list = lists[&node.node()];
    list = listed(node);
    if (list) continue;
    std::vector<const TupleSet<TileType>*> inputs;
    for (const Plan& input : inputs_of(operator_of(node)))
      inputs.push_back(lists.at(&input.node()).get());
    list = std::make_shared<TupleSet<TileType>>(
        evaluate<TileType>(operator_of(node), inputs, node.type()));
  }
  return lists.at(&plan.node());
}

std::shared_ptr<const TupleSet<TileType>> listed(const Plan& plan) {
  const Plan::Node& node = plan.node();
  if (node.pilot) return node.pilot;
  const bool simple = node.uniform && node.type.presence == Presence::continuous;
  if (!simple || count_below(node.type.frontier) > pilot_limit) return nullptr;
  auto set = std::make_shared<TupleSet<TileType>>();
  set->type = node.type;
  std::vector<TileType> types;
  for (const Column& column : node.type.columns) types.push_back(column.type);
  Key key(node.type.frontier.size(), 0);
  for (std::int64_t i = count_below(node.type.frontier); i > 0; --i) {
    set->tuples.push_back({key, types});
    advance(key, node.type.frontier);
  }
  return set;
}

}  // namespace tessera
