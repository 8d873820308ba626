#pragma once

#include <memory>

#include "tessera/plan.h"
#include "tra/tuple_set.h"

namespace tessera::ia {

/// How many tuples are listed where inference did not.
inline constexpr std::int64_t list_tuples_limit = 1'000'000;

/// The keys and types of a plan's tuples, as they will be when it has run. Inference lists no
/// result whose keys reach further than a million, for it cannot know that it has few tuples; who
/// places these asks here, and has them worked out from what is known of the inputs. Null if there
/// are more than `list_tuples_limit`, or if an input is known by its type alone.
std::shared_ptr<const TupleSet<TileType>> list_tuples(const tessera::Plan& plan);

/// How many tuples a plan has: exactly where they are listed or are all keys below the frontier,
/// and else an estimate, as if the keys of its inputs were spread evenly below their frontiers.
double estimated_tuples(const tessera::Plan& plan);

}  // namespace tessera::ia
