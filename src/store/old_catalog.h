#pragma once

#include <filesystem>

#include "store/catalog.h"

namespace tessera::store {

// Catalogues of the versions 1 and 2 of the format, which were files of SQLite. They can be read;
// who writes to such a database brings it to the present version first.

/// Whether a folder has such a catalogue, and no later one. IoError if one may not look.
bool has_old_catalogue(const std::filesystem::path& database);
/// IoError if it is damaged.
Catalog read_old_catalogue(const std::filesystem::path& database);
/// Whether its files are there, be it that an upgrade was killed before it had removed them.
bool has_old_files(const std::filesystem::path& database);
/// Removes its files, if they are there.
void remove_old_catalogue(const std::filesystem::path& database);

}  // namespace tessera::store
