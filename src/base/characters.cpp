#include "base/characters.h"

#include <fmt/format.h>

namespace tessera {
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

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < ' ' || byte == 127;
}

std::string escaped_byte(char c) { return fmt::format("\\x{:02x}", static_cast<unsigned char>(c)); }

bool has_control_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
    if (is_control(text[at]) || (byte == 0xC2 && next < 0xA0)) return true;
    if (text.substr(at, 3) == "\u2028" || text.substr(at, 3) == "\u2029") return true;
  }
  return false;
}

}  // namespace tessera
