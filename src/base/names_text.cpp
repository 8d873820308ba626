#include "base/names_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace tessera {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (lower(a[i]) != lower(b[j]) ? 1 : 0);
      diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> similar_names(std::string_view name,
                                       const std::vector<std::string>& names) {
  constexpr std::size_t most_characters = 100, most_names = 3;
  if (name.size() > most_characters) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& known : names) {
    if (known.size() > most_characters) continue;
    const std::size_t distance = edit_distance(name, known);
    // Short names have many others close by: at least half of a name has to be right.
    const std::size_t most = std::min(std::max<std::size_t>(2, name.size() / 3), name.size() / 2);
    if (distance <= most) near.emplace_back(distance, known);
  }
  std::sort(near.begin(), near.end());
  near.resize(std::min(near.size(), most_names));
  std::vector<std::string> similar;
  for (auto& [distance, known] : near) similar.push_back(std::move(known));
  return similar;
}

std::string did_you_mean(const std::vector<std::string>& names) {
  return fmt::format("did you mean \"{}\"?", fmt::join(names, "\" or \""));
}

std::string instead_of(std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string> similar = similar_names(name, names);
  if (similar.empty()) return "available: " + names_text(names);
  return did_you_mean(similar);
}

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  if (names.empty()) return "none";
  // The last one takes no more room than "1 more".
  const std::size_t shown = names.size() <= most + 1 ? names.size() : most;
  const std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  if (shown == names.size()) return text;
  return fmt::format("{} and {} more", text, names.size() - shown);
}

}  // namespace tessera
