#pragma once

#include "database/statement.h"

namespace tessera {

/// Gives back the room of what no relation uses any more. A segment of which nothing is used goes
/// at once. One of which no more than a share is used that is `worth_keeping` is left behind by
/// writing what is used to the end of the database again, as long as there is room on the disk: 0
/// rewrites nothing.
void reclaim(const std::filesystem::path& database, WriteStatement& statement,
             double worth_keeping);

/// Gives back room in place, which needs none: of segments that nobody reads, what no relation
/// uses.
void give_back_in_place(const std::filesystem::path& database, const store::Catalog& catalog);

/// The room that segments take on the disk.
std::int64_t room_of_segments(const std::filesystem::path& database, const store::Catalog& catalog);

}  // namespace tessera
