#pragma once

#include "store/catalog.h"
#include "tessera/database.h"

namespace tessera {

// What is damaged in a database besides the relations that are stored there.

/// As SQLite and the catalogue's own checksums say it.
std::vector<Damage> damage_of_catalogue(store::Catalog& catalog);
/// Segments that are missing, cut off, or have lost their heads. The tiles in them are looked at
/// one by one elsewhere.
std::vector<Damage> damage_of_segments(const std::filesystem::path& database,
                                       store::Catalog& catalog);

}  // namespace tessera
