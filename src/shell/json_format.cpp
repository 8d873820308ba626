#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "shell/result_format.h"
#include "tile/nested_text.h"

namespace tessera::shell {
namespace {

void write_string(std::ostream& out, const std::string& text) {
  // Bytes that are no UTF-8 have no place in JSON.
  out << nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_json_cell(std::ostream& out, const ResultTable& rows, std::int64_t row, int column) {
  const SqlValue value = rows.at(row, column);
  if (const auto* tile = std::get_if<Tile>(&value)) {
    write_nested(out, *tile, NotFinite::null);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    write_string(out, *text);
  } else if (const auto* number = std::get_if<double>(&value)) {
    // A FLOAT is written as short as a FLOAT can be.
    write_nested(out, Tile::scalar(*number).cast(rows.tile_type(row, column).dtype),
                 NotFinite::null);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    out << *integer;
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    out << (*truth ? "true" : "false");
  } else {
    out << "null";
  }
}

/// The names of the columns, each once, as readers of JSON keep only one of several values with the
/// same name: of two columns a the second is called a_2, or a_3 if there is an a_2.
std::vector<std::string> keys_of(const ResultTable& rows) {
  std::set<std::string> taken, said;
  for (const auto& column : rows.columns()) taken.insert(column.name);
  std::vector<std::string> keys;
  for (const auto& column : rows.columns()) {
    std::string key = column.name;
    if (!said.insert(key).second)
      for (int number = 2; !taken.insert(key).second; ++number)
        key = column.name + "_" + std::to_string(number);
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace

void write_json(std::ostream& out, const ResultTable& rows, const View& view) {
  const std::vector<std::string> keys = keys_of(rows);
  out << '[';
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    stop_if_asked(view);
    out << (row == 0 ? "{" : ",\n{");
    for (int c = 0; std::cmp_less(c, rows.columns().size()); ++c) {
      if (c > 0) out << ',';
      write_string(out, keys[c]);
      out << ':';
      write_json_cell(out, rows, row, c);
    }
    out << '}';
  }
  out << "]\n";
}

void write_json_document(std::ostream& out, const std::string& format, const std::string& text) {
  out << '{';
  write_string(out, format);
  out << ':';
  write_string(out, text);
  out << "}\n";
}

}  // namespace tessera::shell
