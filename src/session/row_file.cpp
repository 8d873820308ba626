#include "session/row_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/memory_account.h"
#include "base/outside.h"
#include "database/file_meter.h"
#include "database/replacement.h"
#include "database/write_through.h"
#include "lang/sql/words.h"
#include "query/rows/kernel_location.h"
#include "query/rows/text_value.h"
#include "tile/nested_text.h"

namespace tessera::session {
namespace {

using query::Row;
using query::Rows;
using query::Schema;

bool has_ending(const std::string& file, std::initializer_list<std::string_view> endings) {
  const std::string name = sql::in_lower_case(file);
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

char delimiter_of(const std::string& file, const FormatOptions& options) {
  if (options.delimiter != '\0') return options.delimiter;
  return has_ending(file, {".tsv"}) ? '\t' : ',';
}

/// A row is too short to look for a stop, or for the time, after each.
constexpr std::int64_t rows_between_looks = 512;

struct Field {
  std::string text;
  bool quoted = false;
};

/// The records of a text, one after the other; a quoted field may go over several lines.
class RecordReader {
 public:
  RecordReader(const InputFile& file, char delimiter)
      : file_(file.name), delimiter_(delimiter), in_(file.path, std::ios::binary) {
    TESSERA_REQUIRE(IoError, in_.is_open(), "cannot open {}: {}", file.name, std::strerror(errno));
    std::error_code unknown;  // of what is no plain file
    const auto bytes = std::filesystem::file_size(file.path, unknown);
    if (!unknown) size_ = static_cast<std::int64_t>(bytes);
  }

  /// False at the end. Lines without anything are left out.
  bool next(std::vector<Field>& record) {
    while (in_.peek() != std::ifstream::traits_type::eof()) {
      record.clear();
      begin_ = ++line_;
      read_record(record);
      if (record.size() > 1 || !record[0].text.empty() || record[0].quoted) return true;
    }
    TESSERA_REQUIRE(IoError, !in_.bad(), "cannot read the rest of {}: {}", file_,
                    std::strerror(errno));
    return false;
  }

  std::int64_t line() const { return begin_; }
  /// Bytes that have been read; all of them, at the end.
  std::int64_t position() { return in_.good() ? static_cast<std::int64_t>(in_.tellg()) : size_; }
  std::int64_t size() const { return size_; }

 private:
  void read_record(std::vector<Field>& record) {
    record.emplace_back();
    for (int c = in_.get(); c != std::ifstream::traits_type::eof(); c = in_.get()) {
      const auto character = static_cast<char>(c);
      Field& field = record.back();
      if (character == '"' && field.text.empty() && !field.quoted)
        read_quoted(field);
      else if (character == delimiter_)
        record.emplace_back();
      else if (character == '\n')
        return;
      else if (character == '\r' && in_.peek() == '\n')
        continue;
      else if (field.quoted)
        throw IoError(fmt::format("{}, line {}: unexpected '{}' after a quoted field", file_, line_,
                                  character));
      else
        field.text += character;
    }
  }

  void read_quoted(Field& field) {
    field.quoted = true;
    for (int c = in_.get(); c != std::ifstream::traits_type::eof(); c = in_.get()) {
      const auto character = static_cast<char>(c);
      if (character == '\n') ++line_;
      if (character == '"') {
        if (in_.peek() != '"') return;
        in_.get();
      }
      field.text += character;
    }
    throw IoError(fmt::format("{}, line {}: unterminated quoted field", file_, begin_));
  }

  const std::string& file_;
  const char delimiter_;
  std::ifstream in_;
  std::int64_t line_ = 0, begin_ = 0;
  std::int64_t size_ = 0;
};

/// Whether the first line names columns: all of the table's.
bool names_columns(const std::vector<Field>& record, const Schema& schema) {
  return std::all_of(schema.begin(), schema.end(), [&](const query::Column& column) {
    return std::any_of(record.begin(), record.end(), [&](const Field& field) {
      return query::same_name(field.text, column.name);
    });
  });
}

/// For each column, which field of a line it is.
std::vector<std::size_t> places_in(const std::vector<Field>& header, const Schema& schema,
                                   const std::string& file) {
  std::vector<std::size_t> places;
  for (const query::Column& column : schema) {
    const auto found = std::find_if(header.begin(), header.end(), [&](const Field& field) {
      return query::same_name(field.text, column.name);
    });
    TESSERA_REQUIRE(IoError, found != header.end(),
                    "{}: column \"{}\" not found in the header line", file, column.name);
    places.push_back(static_cast<std::size_t>(found - header.begin()));
  }
  return places;
}

std::string without_blanks(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// A tensor whose shape is within that of its column.
Tile tensor_of(const std::string& text, const sql::Type& type) {
  const TileType bound = query::tile_type(type);
  const Tile tile = read_nested(text, bound.dtype, bound.shape.rank());
  for (int d = 0; d < tile.rank(); ++d)
    TESSERA_REQUIRE(ValueError, tile.shape()[d] <= bound.shape[d],
                    "a tensor of shape {} does not fit {}", to_string(tile.shape()),
                    sql::to_string(type));
  return tile;
}

query::Cell cell_of(const Field& field, const query::Column& column, const FormatOptions& options) {
  if (query::is_text(column.type)) return query::Cell(field.text);
  const std::string text = without_blanks(field.text);
  if (query::is_tensor(column.type)) {
    TESSERA_REQUIRE(ValueError, !text.empty(), "the field is empty, but columns cannot be NULL");
    return tensor_of(text, column.type);
  }
  if (text.empty() && options.missing)
    return query::cast_to(column.type)({Tile::scalar(*options.missing)});
  TESSERA_REQUIRE(ValueError, !text.empty(),
                  "the field is empty, but columns cannot be NULL; set a value for empty fields "
                  "with WITH (missing = ...)");
  return query::cast_text(text, column.type);
}

std::string quoted(const std::string& text, char delimiter) {
  const bool plain = text.find_first_of(std::string("\"\r\n") + delimiter) == std::string::npos;
  if (plain && !text.empty()) return text;
  std::string result = "\"";
  for (char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

/// NULL is an empty field; a text without characters is one in quotes.
void write_cell(std::ostream& out, const query::Cell& cell, char delimiter) {
  if (cell.is_null()) return;
  if (cell.is_text() || cell.type().shape.rank() == 0) {
    out << quoted(query::text_of(cell), delimiter);
    return;
  }
  out << '"';  // numbers in brackets hold no quotes
  write_nested(out, cell.tile(), NotFinite::named);
  out << '"';
}

}  // namespace

bool is_row_format(const std::string& file, const FormatOptions& options) {
  if (!options.format.empty()) return sql::same_word(options.format, "csv");
  return has_ending(file, {".csv", ".tsv", ".txt"}) || descriptor_of(file);
}

void require_row_format(const std::string& file, const FormatOptions& options) {
  TESSERA_REQUIRE(
      TypeError, is_row_format(file, options),
      "cannot use \"{}\" for rows: rows need the csv format; name the file .csv or add WITH "
      "(format = csv)",
      file);
  TESSERA_REQUIRE(TypeError,
                  !options.dtype && !options.shape && options.member.empty() &&
                      !options.column_major && !options.index_base && options.query.empty() &&
                      !options.tile_a_row && !options.external_files,
                  "{}: rows accept only the options format, header, delimiter and missing", file);
}

Rows read_rows(const std::string& file, const Schema& schema, const FormatOptions& options) {
  const InputFile input = input_file(file, options.external_access);
  RecordReader reader(input, delimiter_of(file, options));
  Rows rows{schema, {}};
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < schema.size(); ++c) places.push_back(c);
  std::size_t fields = schema.size();
  std::vector<Field> record;
  bool first = true;
  FileMeter meter(options, reader.size());
  std::int64_t told = 0;  // bytes
  while (reader.next(record)) {
    if (rows.rows.size() % rows_between_looks == 0) {
      const std::int64_t now = reader.position();
      meter.advance(now - told, rows.rows.empty() ? 0 : rows_between_looks);
      told = now;
    }
    const bool is_header = first && options.header.value_or(names_columns(record, schema));
    first = false;
    if (is_header) {
      places = places_in(record, schema, file);
      fields = record.size();
      continue;
    }
    TESSERA_REQUIRE(IoError, record.size() == fields,
                    "{}, line {}: found {} field{}, expected {}{}", file, reader.line(),
                    record.size(), record.size() == 1 ? "" : "s", fields,
                    record.size() == 1 && rows.rows.empty()
                        ? "; set the separator, for example WITH (delimiter = ';')"
                        : "");
    look_at_memory("the rows of a file");
    Row row;
    for (std::size_t c = 0; c < schema.size(); ++c) {
      try {
        row.push_back(cell_of(record[places[c]], schema[c], options));
      } catch (const Interrupted&) {
        throw;
      } catch (const OutOfMemory&) {
        throw;
      } catch (const Error& error) {
        throw IoError(fmt::format("{}, line {}, column {}: {}", file, reader.line(), schema[c].name,
                                  error.what()));
      }
    }
    rows.rows.push_back(std::move(row));
  }
  (void)meter.finish();
  return rows;
}

void write_rows(const std::string& file, const Rows& rows, const FormatOptions& options) {
  const char delimiter = delimiter_of(file, options);
  Replacement made(file, options.external_access, options.stop);
  std::ofstream out(made.output().path, std::ios::binary | std::ios::trunc);
  TESSERA_REQUIRE(IoError, out.is_open(), "cannot write {}: {}", file, std::strerror(errno));
  const auto line = [&](std::size_t count, const auto& write_field) {
    for (std::size_t c = 0; c < count; ++c) {
      if (c > 0) out.put(delimiter);
      write_field(c);
    }
    out.put('\n');
  };
  if (options.header.value_or(true))
    line(rows.schema.size(), [&](std::size_t c) { out << quoted(rows.schema[c].name, delimiter); });
  FileMeter meter(options, 0);
  std::int64_t written = 0;
  for (const Row& row : rows.rows) {
    if (written++ % rows_between_looks == 0) {
      meter.set_fraction(static_cast<double>(written) / static_cast<double>(rows.rows.size()));
      meter.advance(0, written == 1 ? 0 : rows_between_looks);
    }
    line(row.size(), [&](std::size_t c) { write_cell(out, row[c], delimiter); });
  }
  out.close();
  TESSERA_REQUIRE(IoError, !out.fail(), "cannot write {}: {}", file, std::strerror(errno));
  (void)meter.finish();
  (void)made.keep();
}

}  // namespace tessera::session
