#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::store {

// What is in the file of a catalogue, by the version of its format. A version has all of the one
// before, and tables of its own.
//   1: relations, their directories, segments, and what was computed.
//   2: texts, and strings with their codes.

inline constexpr std::int64_t format_version = 2;
inline constexpr std::int64_t application = 0x54535241;  // "TSRA"

/// Makes what versions after `from` have, up to the present one; 0: all of it.
std::string schema_since(std::int64_t from);
/// The tables whose rows are counted, so that one that has vanished is missed.
std::vector<std::string> counted_tables(std::int64_t version);

std::int64_t checksum_of(const std::string& text);

}  // namespace tessera::store
