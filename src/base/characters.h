#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

/// How many bytes the character has that begins there; 0 if that is not valid UTF-8.
std::size_t character_length(std::string_view text, std::size_t at);

/// Whether a text is valid UTF-8.
bool is_utf8(std::string_view text);

/// One of those of ASCII that say something to a terminal: below the space, or 127.
bool is_control(char c);

/// A byte as a message can show it: \x1b.
std::string escaped_byte(char c);

/// Whether a text in UTF-8 has characters that terminals obey or that end lines: those below the
/// space, 127 to 159, and the separators of lines and paragraphs.
bool has_control_characters(std::string_view text);

}  // namespace tessera
