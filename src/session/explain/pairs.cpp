#include "session/explain/pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/quantities.h"

namespace tessera::session {

void Pairs::add(const std::string& predicted, const std::string& measured) {
  left_ = std::max(left_, predicted.size());
  right_ = std::max(right_, measured.size());
  cells_.emplace_back(predicted, measured);
}

bool Pairs::says_something() const {
  const auto says = [](const std::string& text) { return !text.empty() && text != "-"; };
  return std::any_of(cells_.begin(), cells_.end(),
                     [&](const auto& cell) { return says(cell.first) || says(cell.second); });
}

std::string Pairs::text(std::size_t line) const {
  const auto& [predicted, measured] = cells_[line];
  if (measured.empty()) return predicted.empty() ? "" : fmt::format("{:>{}}", predicted, left_);
  return fmt::format("{:>{}} | {:>{}}", predicted, left_, measured, right_);
}

std::string size_text(double bytes) {
  return bytes == 0 ? "-" : bytes_text(static_cast<std::int64_t>(bytes));
}

std::string time_text(double seconds) { return seconds == 0 ? "-" : seconds_text(seconds); }

}  // namespace tessera::session
