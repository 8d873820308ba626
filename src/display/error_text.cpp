#include "display/error_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/characters.h"
#include "display/display_width.h"
#include "display/paint.h"

namespace tessera::display {
namespace {

constexpr int widest = 120;  // of a line that is shown where nothing else says how wide it may be
constexpr int least = 30;

std::string_view line_of(std::string_view text, int number) {
  for (; number > 1; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// Where the character of this number begins; columns count from 1.
std::size_t byte_of(std::string_view line, int column) {
  std::size_t at = 0;
  for (; column > 1 && at < line.size(); --column)
    at += std::max<std::size_t>(1, character_length(line, at));
  return std::min(at, line.size());
}

/// One column each, so that the mark stands below its place.
std::string without_tabs(std::string_view text) {
  std::string result(text);
  std::replace(result.begin(), result.end(), '\t', ' ');
  return printable(result);
}

}  // namespace

std::string error_text(const Error& error, bool colour) {
  return Paint{colour, Paint::red}(error.kind()) + ": " + error.what() + "\n";
}

std::string error_text(const StatementError& error, std::string_view text, const Origin& origin,
                       int width, bool colour) {
  std::string result = error_text(error, colour);
  // Whoever has stopped a statement knows which one it was.
  if (std::string_view(error.kind()) == "Interrupted") return result;
  const int line_number = origin.line + error.line - 1;
  const std::string where = origin.file.empty() ? fmt::format("line {}: ", line_number)
                                                : fmt::format("{}:{}: ", origin.file, line_number);
  const std::string_view line = line_of(text, error.line);
  const std::size_t at = byte_of(line, error.column);
  std::string before = without_tabs(line.substr(0, at));
  const std::string after = without_tabs(line.substr(at));
  const int room = std::max(least, (width > 0 ? width - 1 : widest) - display_width(where));
  // The place is two thirds of the line at most from its left.
  if (const int wide = display_width(before); wide > room * 2 / 3) {
    std::size_t begin = 0;
    int dropped = 0;
    while (wide - dropped > room * 2 / 3) {
      const std::size_t length = std::max<std::size_t>(1, character_length(before, begin));
      dropped += display_width(std::string_view(before).substr(begin, length));
      begin += length;
    }
    before = "…" + before.substr(begin);
  }
  const int left = display_width(before);
  result += where + before + cut_to(after, room - left) + "\n";
  result += std::string(static_cast<std::size_t>(display_width(where) + left), ' ') +
            Paint{colour, Paint::red}("^") + "\n";
  return result;
}

}  // namespace tessera::display
