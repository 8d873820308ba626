#pragma once

#include "database/statement.h"

namespace tessera {

/// Gives back the room of what no relation uses any more, and returns how many bytes that were. A
/// segment of which nothing is used goes at once. One of which no more than a share is used that is
/// `worth_keeping` is left behind by writing what is used to the end of the database again: 0
/// rewrites nothing.
std::int64_t reclaim(const std::filesystem::path& database, WriteStatement& statement,
                     double worth_keeping);

}  // namespace tessera
