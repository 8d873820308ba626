#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "tessera/plan.h"
#include "tra/tuple_set.h"

namespace tessera {

/// The tuples of a plan that inference did not list, worked out when they were first asked for.
struct TupleListing {
  std::shared_ptr<const TupleSet<TileType>> tuples;  // null: it cannot be listed
  double count = 0;                                  // how many there are; else an estimate
};

/// An operator and what is known of its result before it runs.
struct Plan::Node {
  Operator op;
  RelationType type = {};
  Cardinality cardinality = {};
  Closedness closedness = {};
  /// The keys as a set described by expressions, where they are still that simple.
  std::optional<KeySet> keys = {};
  /// Whether every tile has the shape of the bound. Then, if there are no holes either, types
  /// follow from the bounds in closed form.
  bool uniform = true;
  /// Otherwise the key and the types of every tuple, unless there are too many to list.
  std::shared_ptr<const TupleSet<TileType>> pilot = nullptr;
  /// Kept for all who ask again; null until somebody has asked.
  mutable std::atomic<std::shared_ptr<const TupleListing>> listing = {};

  explicit Node(Operator root) : op(std::move(root)) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// Releases the inputs one after the other: a chain of destructors would be as deep as the plan.
  ~Node();
};

/// The nodes of plans, each once, inputs before what reads them. Not recursive: plans are deep.
std::vector<Plan> in_order(const Plan& root);
std::vector<Plan> in_order(const std::vector<Plan>& roots);

/// Infers everything about an operator's result. TypeError or PlanError if it has none.
std::shared_ptr<const Plan::Node> make_node(Operator op);

/// The keys and types of a plan's tuples one by one; null if there are too many, or unknown ones.
std::shared_ptr<const TupleSet<TileType>> listed(const Plan& plan);

/// The same however many there are, for a plan that is about to run.
std::shared_ptr<const TupleSet<TileType>> listed_without_limit(const Plan& plan);

/// Refuses a plan whose keys are known to collide, to be negative or, unless allowed, to have
/// holes.
void verify_before_running(const std::vector<Plan>& plans, Holes holes);
/// The relation that the tuples of a plan's result make, in order of their keys.
Relation settle(const Plan& plan, std::vector<Tuple> tuples, Holes holes = Holes::allowed);
/// The same where only the types of the tiles are at hand.
TupleSet<TileType> settle(const Plan& plan, std::vector<BasicTuple<TileType>> tuples, Holes holes);

/// What an input's source yields for a tuple. TypeError if it is not of the types that were said.
std::vector<Tile> tiles_from(const op::Input& input, const BasicTuple<TileType>& tuple);
/// All that it has.
TupleSet<Tile> tuples_from(const op::Input& input);
/// The keys and types of what it has, in order.
void for_each_tuple(const op::Input& input,
                    const std::function<void(const BasicTuple<TileType>&)>& visit);

/// The columns a projection makes of columns of these types.
std::vector<Column> project_types(const Operator& op, const std::vector<Apply>& projection,
                                  const std::vector<Column>& columns);

}  // namespace tessera
