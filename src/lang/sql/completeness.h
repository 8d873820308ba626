#pragma once

#include <string_view>

namespace tessera::sql {

/// Whether a text can be sent off, or a shell should wait for another line: its last statement ends
/// with a semicolon outside of strings, comments and parentheses. Nothing but blanks and comments
/// is not complete.
bool is_complete(std::string_view text);

}  // namespace tessera::sql
