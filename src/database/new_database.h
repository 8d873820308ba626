#pragma once

#include <filesystem>

namespace tessera {

/// Makes an empty database in a folder that is not there, or is empty, or that a crash has left
/// when this was tried before. Two who try at once make one.
void make_database(const std::filesystem::path& folder, double lock_seconds);

}  // namespace tessera
