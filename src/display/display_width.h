#pragma once

#include <string>
#include <string_view>

// Texts as a terminal shows them: a character of UTF-8 takes one column, two or none.

namespace tessera::display {

/// Has the C library know the characters of UTF-8, whatever the environment says of languages;
/// numbers stay as they are. Called once, when the program starts.
void use_utf8();

int display_width(std::string_view text);

/// On one line, and harmless: control characters as \n or \x1b, bytes that are no UTF-8 as �.
std::string printable(std::string_view text);

/// At most so wide: what is longer ends with ….
std::string cut_to(std::string_view text, int width);

enum class Align { left, right };
std::string padded(std::string_view text, int width, Align align);

}  // namespace tessera::display
