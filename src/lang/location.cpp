#include "lang/location.h"

#include <algorithm>

namespace tessera::lang {

LineColumn line_and_column(std::string_view text, Location location) {
  LineColumn at;
  const auto end = std::min(text.size(), static_cast<std::size_t>(std::max(location.offset, 0)));
  for (std::size_t i = 0; i < end; ++i) {
    if (text[i] == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {  // not inside a character
      ++at.column;
    }
  }
  return at;
}

}  // namespace tessera::lang
