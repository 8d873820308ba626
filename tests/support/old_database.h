#pragma once

#include <filesystem>

namespace tessera {

/// Makes of a database one that a program of an older version has left, 1 or 2, with a catalogue
/// that is a file of SQLite. Version 1 had no texts, and version 2 gave codes to strings from 1 on:
/// it gets the strings "red" and "green".
void make_old(const std::filesystem::path& database, int version);

}  // namespace tessera
