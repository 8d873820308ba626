#include "lang/characters.h"

#include <fmt/format.h>

#include <iterator>

#include "base/characters.h"

namespace tessera::lang {

std::string readable(std::string_view piece) {
  constexpr int most_characters = 40;
  std::string text;
  std::size_t at = 0;
  for (int shown = 0; at < piece.size() && shown < most_characters; ++shown) {
    const std::size_t length = character_length(piece, at);
    const auto first = static_cast<unsigned char>(piece[at]);
    if (length == 0 || first < 0x20 || first == 0x7F)
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", first);
    else
      text += piece.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return at < piece.size() ? text + "..." : text;
}

}  // namespace tessera::lang
