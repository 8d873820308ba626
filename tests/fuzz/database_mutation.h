#pragma once

#include <filesystem>
#include <string>

#include "support/random_tiles.h"

namespace tessera::hostile {

/// Changes something of a database and brings every checksum up to date that would notice: of the
/// record, of the directory that names it, and of the catalogue, which is written through its own
/// functions. Says what was changed.
std::string mutate(const std::filesystem::path& folder, Random& random);

}  // namespace tessera::hostile
