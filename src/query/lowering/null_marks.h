#pragma once

#include "query/rows/node.h"

// A table holds no NULL. Rows that have some, and are to be stored for a while, get columns that
// say where they are.

namespace tessera::query {

std::vector<int> columns_with_null(const Rows& rows);  // in order

/// The rows with something else in the place of NULL, and, for each column that has any, one more
/// at the end, which is true where it is NULL and has the other one's number as its name.
Rows marked(const Rows& rows);

/// What `marked` was made of: rows of this schema.
Rows unmarked(const Rows& rows, const Schema& schema);

}  // namespace tessera::query
