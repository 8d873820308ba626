#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::store {

/// Text of a file as a message shows it: in quotes, short, what cannot be printed as \xNN.
std::string shown(std::string_view text);

/// IoError "x.csv, line 12, column 5: reason". Both count from 1; column 0: not known.
[[noreturn]] void fail_at(const std::string& file, std::int64_t line, std::int64_t column,
                          const std::string& reason);

}  // namespace tessera::store
