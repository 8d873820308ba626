#pragma once

#include "query/lowering/lowering.h"

// Lowering of the operators that take more than a few lines, a file each.

namespace tessera::query {

Lowered refused(std::string reason);

Lowered lower_join(const Join& op, const Schema& schema, const Table& left, const Table& right,
                   Parameters parameters);
Lowered lower_aggregate(const Aggregate& op, const Schema& schema, const Table& in,
                        Parameters parameters);

}  // namespace tessera::query
