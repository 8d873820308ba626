#pragma once

#include <iosfwd>
#include <stop_token>
#include <string_view>

#include "tessera/session.h"

namespace tessera::display {

/// How much of a result is shown, and how.
struct View {
  int width = 0;              // columns of the terminal; 0: whatever the rows take
  std::int64_t max_rows = 0;  // 0: all of them
  bool colour = false;
  std::stop_token stop = {};  // Interrupted between two rows
  // What to tell those who miss the rest: ": .maxrows".
  std::string_view more_rows = {}, more_columns = {};
};

/// The rows as a table with a head, its columns aligned, and their number below.
void write_table(std::ostream& out, const ResultTable& rows, const View& view);

/// For loops over rows.
void stop_if_asked(const View& view);

}  // namespace tessera::display
