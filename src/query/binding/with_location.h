#pragma once

#include "query/rows/node.h"

namespace tessera::query {

/// The same query, all of whose parts are said to stand at one location: what was read from another
/// text, such as a view's, has none in the statement but where it is named.
NodePtr with_location(const NodePtr& node, Location location);

}  // namespace tessera::query
