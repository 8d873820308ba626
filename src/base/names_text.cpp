#include "base/names_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera {

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  if (names.empty()) return "none";
  const std::size_t shown = std::min(names.size(), most);
  const std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  if (shown == names.size()) return text;
  return fmt::format("{} and {} more", text, names.size() - shown);
}

}  // namespace tessera
