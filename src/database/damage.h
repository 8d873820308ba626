#pragma once

#include "store/catalog_file.h"
#include "tessera/database.h"

namespace tessera {

// What is damaged in a database besides the relations that are stored there.

std::vector<Damage> damage_of_catalogue(store::CatalogFile& catalog);
/// Segments that are missing, cut off, or have lost their heads. The tiles in them are looked at
/// one by one elsewhere.
std::vector<Damage> damage_of_segments(const std::filesystem::path& database,
                                       store::CatalogFile& catalog);

}  // namespace tessera
