#pragma once

#include <string>
#include <string_view>

namespace tessera::lang {

/// A piece of a text as a message can show it: on one line, control characters and bytes that are
/// no UTF-8 as \x1b, and only its beginning if it is long.
std::string readable(std::string_view piece);

}  // namespace tessera::lang
