#include "store/formats/text_place.h"

#include "base/characters.h"
#include "base/check.h"

namespace tessera::store {

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, longest))
    result += is_control(c) ? escaped_byte(c) : std::string(1, c);
  return result + (text.size() > longest ? "...'" : "'");
}

void fail_at(const std::string& file, std::int64_t line, std::int64_t column,
             const std::string& reason) {
  throw IoError(column > 0 ? fmt::format("{}, line {}, column {}: {}", file, line, column, reason)
                           : fmt::format("{}, line {}: {}", file, line, reason));
}

}  // namespace tessera::store
