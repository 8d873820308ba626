#include "display/table_layout.h"

#include <algorithm>
#include <numeric>

#include "display/paint.h"

namespace tessera::display {
namespace {

constexpr int narrowest = 8;  // a column is not made narrower than this to fit others
constexpr int around = 3;     // what stands between two columns

int total(const std::vector<int>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 0) +
         around * static_cast<int>(widths.size()) - 1;
}

/// Makes the widest columns narrower, all of them to the same width, until the table fits.
void narrow(std::vector<int>& widths, int width) {
  while (total(widths) > width) {
    const int most = *std::max_element(widths.begin(), widths.end());
    if (most <= narrowest) return;
    int next = narrowest;
    for (const int one : widths)
      if (one < most) next = std::max(next, one);
    const int count = static_cast<int>(std::count(widths.begin(), widths.end(), most));
    const int step = std::max(1, std::min(most - next, (total(widths) - width) / count));
    int excess = total(widths) - width;
    for (int& one : widths)
      if (one == most && excess > 0) {
        one -= step;
        excess -= step;
      }
  }
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<int>& widths,
                    const std::vector<TextTable::Column>& columns, bool more, const Paint& paint) {
  std::string line;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    const std::string cell = cut_to(cells[c], widths[c]);
    const std::string blanks(static_cast<std::size_t>(widths[c] - display_width(cell)), ' ');
    line += c == 0 ? " " : " │ ";
    line += columns[c].align == Align::right ? blanks + paint(cell) : paint(cell) + blanks;
  }
  if (more) line += " │ …";
  const std::size_t end = line.find_last_not_of(' ');
  return (end == std::string::npos ? std::string() : line.substr(0, end + 1)) + "\n";
}

}  // namespace

std::vector<int> fitted_widths(const TextTable& table, int width) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(display_width(table.columns[c].name));
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  if (width <= 0) return widths;
  const std::vector<int> wanted = widths;
  narrow(widths, width);
  std::size_t shown = widths.size();
  // A column that is left out leaves a mark, which takes a place of its own.
  while (shown > 1 && total(widths) > width - (shown < wanted.size() ? around + 1 : 0)) {
    --shown;
    widths.assign(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(shown));
    narrow(widths, width - around - 1);
  }
  const int room = width - (shown < wanted.size() ? around + 1 : 0);
  if (shown == 1) widths[0] = std::max(1, std::min(widths[0], room - around + 1));
  return widths;
}

std::string drawn(const TextTable& table, int width, bool colour) {
  const std::vector<int> widths = fitted_widths(table, width);
  const bool more = widths.size() < table.columns.size();
  std::vector<std::string> names;
  std::string rule;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    names.push_back(table.columns[c].name);
    if (c > 0) rule += "┼";
    for (int i = 0; i < widths[c] + 2; ++i) rule += "─";
  }
  if (more) rule += "┼──";
  std::string text = line_of(names, widths, table.columns, more, Paint{colour, Paint::bold});
  text += Paint{colour, Paint::faint}(rule) + "\n";
  for (const auto& row : table.rows)
    text += line_of(row, widths, table.columns, more, Paint{false, ""});
  return text;
}

}  // namespace tessera::display
