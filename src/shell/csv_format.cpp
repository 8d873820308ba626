#include <ostream>

#include "shell/result_format.h"
#include "tile/nested_text.h"

// RFC 4180: lines end with CR LF, and what holds a comma, a quote or the end of a line is quoted.

namespace tessera::shell {
namespace {

void write_quoted(std::ostream& out, std::string_view text) {
  out << '"';
  for (const char c : text) {
    if (c == '"') out << '"';
    out << c;
  }
  out << '"';
}

/// The empty text is quoted: an empty field is NULL.
void write_text(std::ostream& out, std::string_view text) {
  if (text.empty() || text.find_first_of(",\"\r\n") != std::string_view::npos)
    write_quoted(out, text);
  else
    out << text;
}

void write_csv_cell(std::ostream& out, const ResultTable& rows, std::int64_t row, int column) {
  if (rows.tile_type(row, column).shape.rank() > 0) {
    out << '"';  // numbers in brackets hold no quotes
    write_nested(out, std::get<Tile>(rows.at(row, column)), NotFinite::null);
    out << '"';
    return;
  }
  const SqlValue value = rows.at(row, column);
  if (const auto* text = std::get_if<std::string>(&value))
    write_text(out, *text);
  else if (!std::holds_alternative<std::monostate>(value))
    out << rows.text(row, column);
}

}  // namespace

void write_csv(std::ostream& out, const ResultTable& rows, const View& view) {
  const int columns = static_cast<int>(rows.columns().size());
  for (int c = 0; c < columns; ++c) {
    if (c > 0) out << ',';
    write_text(out, rows.columns()[c].name);
  }
  out << "\r\n";
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    stop_if_asked(view);
    for (int c = 0; c < columns; ++c) {
      if (c > 0) out << ',';
      write_csv_cell(out, rows, row, c);
    }
    out << "\r\n";
  }
}

}  // namespace tessera::shell
