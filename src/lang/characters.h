#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::lang {

/// How many bytes the character has that begins there; 0 if that is not valid UTF-8.
std::size_t character_length(std::string_view text, std::size_t at);

/// A piece of a text as a message can show it: on one line, control characters and bytes that are
/// no UTF-8 as \x1b, and only its beginning if it is long.
std::string readable(std::string_view piece);

}  // namespace tessera::lang
