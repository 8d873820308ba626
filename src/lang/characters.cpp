#include "lang/characters.h"

#include <fmt/format.h>

#include <iterator>

namespace tessera::lang {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

}  // namespace

// Forms that are too long, halves of surrogates and what lies beyond U+10FFFF are refused by the
// range of the second byte.
std::size_t character_length(std::string_view text, std::size_t at) {
  const unsigned char first = byte_at(text, at), second = byte_at(text, at + 1);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !continues(second)) return 0;
  if (first < 0xE0) return 2;
  if (!continues(byte_at(text, at + 2))) return 0;
  if (first < 0xF0)
    return (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ? 0 : 3;
  if (!continues(byte_at(text, at + 3))) return 0;
  return (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F) ? 0 : 4;
}

std::string readable(std::string_view piece) {
  constexpr int most_characters = 40;
  std::string text;
  std::size_t at = 0;
  for (int shown = 0; at < piece.size() && shown < most_characters; ++shown) {
    const std::size_t length = character_length(piece, at);
    const unsigned char first = byte_at(piece, at);
    if (length == 0 || first < 0x20 || first == 0x7F)
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", first);
    else
      text += piece.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return at < piece.size() ? text + "..." : text;
}

}  // namespace tessera::lang
