#pragma once

#include <filesystem>
#include <string>

#include "tessera/external_access.h"

// The folder of a database and its files, which nothing but the database itself writes.

namespace tessera::store {

/// Whether a folder is a database's. IoError if one may not look.
bool has_catalogue(const std::filesystem::path& folder);

/// IoError if a file is to be written into the folder of a database, or that of its segments, where
/// it could take the place of one of its files. `file`: its name, for errors.
void refuse_own_folder(const std::filesystem::path& folder, const std::string& file);

/// The file that a path leads to by links; it need not be there.
std::filesystem::path without_links(const std::filesystem::path& path);

/// IoError unless a file may be written that is none of a database's own.
void require_foreign_output(const std::string& file, const ExternalAccess& access);

}  // namespace tessera::store
