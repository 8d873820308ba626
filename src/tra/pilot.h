#pragma once

#include "tra/plan_node.h"

namespace tessera {

// The pilot: a result listed tuple by tuple, with the types of its tiles in place of the tiles. It
// is exact where the bounds alone would be too large.

/// Whether the keys of the result are others than those of the input.
bool changes_keys(const Operator& op);

/// How many keys there are below a frontier; more than can be listed where an extent is unknown.
std::int64_t known_count(const Key& frontier);

/// Integrity of keys that are listed one by one.
Closedness closed_list(const TupleSet<TileType>& set);

/// The result listed tuple by tuple, if the inputs can be and the result is not too large.
std::shared_ptr<const TupleSet<TileType>> make_pilot(const Operator& op, const RelationType& type);

/// Takes from a listing what the closed form can only bound.
void refine(Plan::Node& node, const TupleSet<TileType>& pilot);

/// The columns of a projection that fits every tuple though it does not fit the bounds.
std::vector<Column> listed_columns(const Operator& op, const TupleSet<TileType>& pilot);

}  // namespace tessera
