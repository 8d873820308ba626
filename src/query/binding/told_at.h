#pragma once

#include "query/rows/node.h"

namespace tessera::query {

/// The same query, all of whose parts are said to stand at one place: what was read from another
/// text, such as a view's, has none in the statement but where it is named.
NodePtr told_at(const NodePtr& node, Place place);

}  // namespace tessera::query
