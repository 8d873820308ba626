#pragma once

#include <cstddef>
#include <vector>

#include "store/catalog.h"
#include "store/segment.h"

namespace tessera::hostile {

/// The bytes of a record as they are in its file.
std::vector<std::byte> bytes_of(const File& file, const store::FileRange& place);
/// Brings the checksum in its head up to date, whatever it says, and returns that of all of it.
std::uint64_t seal(std::vector<std::byte>& record);

/// Appends bytes to a segment; where they lie there.
store::Address append(const std::filesystem::path& database, std::int64_t segment,
                      std::vector<std::byte> record);
/// Makes a catalogue count what was appended to segments; else it would be removed as a leftover.
void count_appended(const std::filesystem::path& database, store::Catalog& catalog);

}  // namespace tessera::hostile
