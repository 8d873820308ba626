#include "lang/characters.h"

#include "base/characters.h"

namespace tessera::lang {

std::string readable(std::string_view piece) {
  constexpr int most_characters = 40;
  std::string text;
  std::size_t at = 0;
  for (int shown = 0; at < piece.size() && shown < most_characters; ++shown) {
    const std::size_t length = character_length(piece, at);
    if (length == 0 || is_control(piece[at]))
      text += escaped_byte(piece[at]);
    else
      text += piece.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return at < piece.size() ? text + "..." : text;
}

}  // namespace tessera::lang
