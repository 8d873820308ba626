#pragma once

#include <filesystem>

#include "store/segment.h"

namespace tessera {

/// IoError if the folder of segments, or the catalogue of an older version, is a link to somebody
/// else's: what is written to a database, or removed from it, stays in its folder. The other files
/// are not followed when they are opened.
void refuse_links(const std::filesystem::path& folder);

/// IoError if the path is a file, or a folder that holds something else than a database.
void refuse_other_files(const std::filesystem::path& folder);

/// Makes an empty database in a folder that is not there, or is empty, or that a crash has left
/// when this was tried before. Two who try at once make one; false if it was the other. IoError if
/// the folder above does not exist: the path has a slip in it.
bool make_database(const std::filesystem::path& folder, double lock_seconds,
                   store::Sync sync = store::Sync::always);

/// Brings a database of an older version to the present one. Nothing that was stored is touched.
/// IoError, and nothing has happened, if that cannot be.
void upgrade_database(const std::filesystem::path& folder, double lock_seconds);

}  // namespace tessera
