#pragma once

#include "query/rows/schema.h"
#include "tessera/kernel.h"

namespace tessera::query {

/// Where something stands in a text that is not the statement's, such as a view's: nobody sees it.
inline constexpr lang::Location elsewhere{-1};

/// The kernel that casts to a type; it refuses what an integer of its bits cannot hold.
KernelCall cast_to(const sql::Type& type);

/// The same kernel in a plan, whose errors about values are about this location in the statement.
KernelCall placed(const KernelCall& kernel, lang::Location location);

}  // namespace tessera::query
