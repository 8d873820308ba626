#pragma once

#include "query/lowering/table.h"

namespace tessera::query {

/// What an operator yields as a plan of the tensor relational algebra, or why it has none: then its
/// rows have to be looked at one by one.
struct Lowered {
  std::optional<Table> table;
  std::string reason = {};
};

Lowered lower(const Node& node, const std::vector<Table>& inputs, Parameters parameters);

}  // namespace tessera::query
