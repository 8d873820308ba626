#pragma once

#include <string>
#include <vector>

#include "display/display_width.h"

namespace tessera::display {

/// A table of texts, each on one line.
struct TextTable {
  struct Column {
    std::string name;
    Align align = Align::left;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows = {};
};

/// How wide each column is drawn so that all fits into `width` (0: whatever it takes): the widest
/// give first. Where even narrow ones do not fit, those at the right are left out.
std::vector<int> fitted_widths(const TextTable& table, int width);

/// The table as lines: a head, a rule, the rows.
std::string drawn(const TextTable& table, int width, bool colour);

}  // namespace tessera::display
