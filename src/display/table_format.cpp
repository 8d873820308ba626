#include "display/table_format.h"

#include <fmt/format.h>

#include <ostream>

#include "display/table_layout.h"
#include "display/tensor_text.h"
#include "session/tensor_kind.h"

namespace tessera::display {
namespace {

bool is_number(const std::string& type) {
  return type == "INT" || type == "BIGINT" || type == "FLOAT" || type == "DOUBLE";
}

std::string cell_text(const ResultTable& rows, std::int64_t row, int column) {
  const TileType type = rows.tile_type(row, column);
  if (type.shape.rank() == 0) return printable(rows.text(row, column));
  return type_text(type) + " " + corner_text(std::get<Tile>(rows.at(row, column)));
}

std::string count_text(std::int64_t shown, const ResultTable& rows, const View& view) {
  const std::string all = fmt::format("{} row{}", rows.rows(), rows.rows() == 1 ? "" : "s");
  return shown < rows.rows() ? fmt::format("({}, {} shown{})", all, shown, view.more_rows)
                             : fmt::format("({})", all);
}

bool has_whole_tensors(const ResultTable& rows) {
  for (int c = 0; std::cmp_less(c, rows.columns().size()); ++c)
    if (rows.tensor(c) != nullptr) return true;
  return false;
}

/// The one row of a SELECT of whole tensors: each of them below its type. Several have names.
void write_tensors(std::ostream& out, const ResultTable& rows, const View& view) {
  const auto columns = static_cast<int>(rows.columns().size());
  for (int c = 0; c < columns; ++c) {
    stop_if_asked(view);
    if (columns > 1) out << printable(rows.columns()[c].name) << ": ";
    if (const ResultTensor* tensor = rows.tensor(c))
      out << session::tensor_kind(tensor->type, tensor->nonzeros) << '\n'
          << elements_text(*tensor) << '\n';
    else
      out << printable(rows.text(0, c)) << '\n';
  }
}

}  // namespace

void stop_if_asked(const View& view) {
  if (view.stop.stop_requested()) throw Interrupted("stopped before all rows were written");
}

void write_table(std::ostream& out, const ResultTable& rows, const View& view) {
  if (has_whole_tensors(rows)) return write_tensors(out, rows, view);
  const std::int64_t shown = view.max_rows > 0 ? std::min(view.max_rows, rows.rows()) : rows.rows();
  TextTable table;
  for (const ResultColumn& column : rows.columns())
    table.columns.push_back(
        {printable(column.name), is_number(column.type) ? Align::right : Align::left});
  for (std::int64_t row = 0; row < shown; ++row) {
    stop_if_asked(view);
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (int c = 0; std::cmp_less(c, rows.columns().size()); ++c)
      cells.push_back(cell_text(rows, row, c));
  }
  out << drawn(table, view.width, view.colour);
  out << count_text(shown, rows, view);
  const std::size_t columns = fitted_widths(table, view.width).size();
  if (columns < table.columns.size())
    out << fmt::format(" ({} columns, {} shown{})", table.columns.size(), columns,
                       view.more_columns);
  out << '\n';
}

}  // namespace tessera::display
