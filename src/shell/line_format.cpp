#include <fmt/format.h>

#include <ostream>

#include "display/display_width.h"
#include "display/tensor_text.h"
#include "shell/result_format.h"

namespace tessera::shell {

using display::Align;
using display::display_width;
using display::elements_text;
using display::padded;
using display::printable;
using display::type_text;

/// A line for every value, `name = value`; a tensor as its type and, below, its elements.
void write_lines(std::ostream& out, const ResultTable& rows, const View& view) {
  int width = 0;
  for (const ResultColumn& column : rows.columns())
    width = std::max(width, display_width(printable(column.name)));
  const std::int64_t shown = view.max_rows > 0 ? std::min(view.max_rows, rows.rows()) : rows.rows();
  for (std::int64_t row = 0; row < shown; ++row) {
    stop_if_asked(view);
    if (row > 0) out << '\n';
    for (int c = 0; std::cmp_less(c, rows.columns().size()); ++c) {
      const TileType type = rows.tile_type(row, c);
      const bool is_tensor = type.shape.rank() > 0;
      const ResultTensor* whole = rows.tensor(c);
      const auto elements = [&] { return whole ? elements_text(*whole) : rows.text(row, c); };
      out << padded(printable(rows.columns()[c].name), width, Align::right) << " = "
          << (is_tensor ? type_text(type) + "\n" + elements() : printable(rows.text(row, c)))
          << '\n';
    }
  }
  if (shown < rows.rows())
    out << fmt::format("({} rows, {} shown: .maxrows)\n", rows.rows(), shown);
}

}  // namespace tessera::shell
