#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// A number of bytes as people write it: "512MB", "2 GiB", "64m", "1000000". MB and M are 10^6
/// bytes, MiB is 2^20. TypeError if it is none.
std::int64_t parse_bytes(std::string_view text);

/// The same for a limit of memory, which cannot be 0: nothing runs in no memory.
std::int64_t parse_memory_limit(std::string_view text);

std::string bytes_text(std::int64_t bytes);  // "512 MB"

// Bytes as a text that anything can carry: two digits each.
std::string hexadecimal(std::string_view bytes);
std::string from_hexadecimal(std::string_view text);

}  // namespace tessera
