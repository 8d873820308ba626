#include "display/display_width.h"

#include <langinfo.h>

#include <clocale>
#include <cwchar>

#include "base/characters.h"

namespace tessera::display {
namespace {

/// The number of the character of `length` bytes that begins there.
wchar_t code_point(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1) return static_cast<wchar_t>(byte(0));
  unsigned code = byte(0) & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3fU);
  return static_cast<wchar_t>(code);
}

int width_of(std::string_view text, std::size_t at, std::size_t length) {
  return std::max(length == 1 ? 1 : 0, ::wcwidth(code_point(text, at, length)));
}

/// A byte that is no character counts as one that is one column wide.
std::size_t length_at(std::string_view text, std::size_t at) {
  return std::max<std::size_t>(1, character_length(text, at));
}

}  // namespace

void use_utf8() {
  const bool known = std::setlocale(LC_CTYPE, "") != nullptr;
  if (!known || std::string_view(::nl_langinfo(CODESET)) != "UTF-8")
    (void)std::setlocale(LC_CTYPE, "C.UTF-8");
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_at(text, at);
    width += width_of(text, at, length);
    at += length;
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    const auto c = static_cast<unsigned char>(text[at]);
    if (length == 0)
      result += "\uFFFD";
    else if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (is_control(text[at]))
      result += escaped_byte(text[at]);
    else if (length == 2 && c == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0)
      result += escaped_byte(text[at + 1]);
    else
      result += text.substr(at, length);
    at += std::max<std::size_t>(1, length);
  }
  return result;
}

std::string cut_to(std::string_view text, int width) {
  int taken = 0;
  std::size_t end_with_mark = 0;  // where to cut so that … still fits
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_at(text, at);
    taken += width_of(text, at, length);
    if (taken > width) return std::string(text.substr(0, end_with_mark)) + (width > 0 ? "…" : "");
    at += length;
    if (taken < width) end_with_mark = at;
  }
  return std::string(text);
}

std::string padded(std::string_view text, int width, Align align) {
  const std::string blanks(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return align == Align::right ? blanks + std::string(text) : std::string(text) + blanks;
}

}  // namespace tessera::display
