#pragma once

#include <string>

namespace tessera::shell {

/// A text whose control characters are written as \\x1b, so that a terminal does not obey what
/// stands in a file.
std::string without_control_characters(const std::string& text);

}  // namespace tessera::shell
