#include "base/check.h"
#include "store/formats/coordinate_lines.h"
#include "store/formats/dense_rows.h"
#include "store/formats/matrix_market_header.h"
#include "store/formats/matrix_market_write.h"
#include "store/formats/row_bands.h"
#include "store/formats/sparse_tiles.h"

// The exchange format of NIST: https://math.nist.gov/MatrixMarket/formats.html

namespace tessera::store {
namespace {

bool is_comment(const LineCursor& line) { return line.done() || *line.at == '%'; }

void read_value(LineCursor& line, const MatrixMarketHeader& header, Numbers& into) {
  line.skip();
  const char* begin = line.at;
  const bool read = read_number(line.at, line.end, into);
  if (!read || (!line.done() && !is_blank(*line.at))) {
    line.at = begin;
    line.fail(line.done() ? "the value is missing"
                          : fmt::format("{} is not a number", shown(line.word())));
  }
  if (header.field == Field::integer && into.are_real()) {
    line.at = begin;
    line.fail(
        fmt::format("{} is not a 64-bit integer, as the header declares", shown(line.word())));
  }
  line.skip();
  if (!line.done()) line.fail(fmt::format("unexpected {} after the value", shown(line.word())));
}

std::int64_t read_coordinate(LineCursor& line, const char* what, std::int64_t extent) {
  line.skip();
  const char* begin = line.at;
  std::int64_t coordinate = 0;
  const bool read = read_index(line.at, line.end, coordinate);
  if (!read || (!line.done() && !is_blank(*line.at)) || coordinate < 1 || coordinate > extent) {
    line.at = begin;
    line.fail(fmt::format("{} is not a {} of the matrix: it must be 1 to {}", shown(line.word()),
                          what, extent));
  }
  return coordinate - 1;
}

/// Which lines of a block have values: all but some.
struct LinesWithValues {
  std::int64_t first = 1;
  std::vector<std::int64_t> others = {};
  std::int64_t line_of(std::int64_t value) const {
    std::int64_t line = first + value;
    for (const std::int64_t other : others) line += other <= line ? 1 : 0;
    return line;
  }
};

/// The entries of a block as they stand there; the symmetric ones are added later.
LinesWithValues read_coordinates(const TextBlock& block, const std::string& file,
                                 const MatrixMarketHeader& header, Entries& into) {
  LinesWithValues lines{block.first_line};
  for_each_line(block, [&](std::string_view text, std::int64_t number) {
    LineCursor line(file, text, number);
    line.skip();
    if (is_comment(line)) {
      lines.others.push_back(number);
      return;
    }
    const std::int64_t row = read_coordinate(line, "row", header.rows);
    const std::int64_t column = read_coordinate(line, "column", header.columns);
    into.coordinates.push_back(row);
    into.coordinates.push_back(column);
    if (header.field == Field::pattern) {
      line.skip();
      if (!line.done())
        line.fail(fmt::format("unexpected {} after the row and column", shown(line.word())));
      into.values.add_boolean(true);
    } else {
      read_value(line, header, into.values);
    }
    if (header.symmetry == Symmetry::skew && row == column)
      line.fail("a skew-symmetric matrix cannot have an entry on the diagonal");
  });
  return lines;
}

/// As the machine does it: the least integer stays what it is.
std::int64_t negated(std::int64_t value) {
  return static_cast<std::int64_t>(-static_cast<std::uint64_t>(value));
}

/// Adds the entries on the other side of the diagonal.
void add_mirrored(Entries& entries, const MatrixMarketHeader& header) {
  if (header.symmetry == Symmetry::general) return;
  const bool negative = header.symmetry == Symmetry::skew;
  const std::int64_t count = entries.size();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = entries.at(i)[0], column = entries.at(i)[1];
    if (row == column) continue;
    entries.coordinates.push_back(column);
    entries.coordinates.push_back(row);
    if (entries.values.are_real())
      entries.values.add_real(negative ? -entries.values.real(i) : entries.values.real(i));
    else if (entries.values.kind() == NumberKind::boolean)
      entries.values.add_boolean(true);
    else
      entries.values.add_integer(negative ? negated(entries.values.integer(i))
                                          : entries.values.integer(i));
  }
}

DType dtype_in(const MatrixMarketHeader& header, const FormatOptions& options,
               const std::string& file) {
  const DType own = header.field == Field::real      ? DType::f64
                    : header.field == Field::integer ? DType::i64
                                                     : DType::boolean;
  const DType dtype = options.dtype.value_or(own);
  TESSERA_REQUIRE(TypeError, !(own == DType::f64 && dtype == DType::i64),
                  "{} has floating-point numbers, which do not fit into i64", file);
  return dtype;
}

/// Sees to it that there are as many values as were announced.
class Counted {
 public:
  Counted(const TextFile& file, const MatrixMarketHeader& header)
      : file_(file.path()), header_(header) {
    // Before anything is made for them: a line has two bytes at least.
    const std::int64_t room = (file.size() - header.offset) / 2 + 1;
    TESSERA_REQUIRE(IoError, header.entries <= room,
                    "{}, line {}: the header declares {} values, but the file is too short for "
                    "them: it is truncated",
                    file_, header_.line - 1, header_.entries);
  }
  void add(std::int64_t values, const LinesWithValues& lines) {
    if (seen_ + values > header_.entries)
      fail_at(file_, lines.line_of(header_.entries - seen_), 0,
              fmt::format("the file has more values than the {} that its header declares",
                          header_.entries));
    seen_ += values;
  }
  void finish() const {
    TESSERA_REQUIRE(
        IoError, seen_ == header_.entries,
        "{}, line {}: the header declares {} values, but there are {}: the file is truncated",
        file_, header_.line - 1, header_.entries, seen_);
  }

 private:
  const std::string& file_;
  const MatrixMarketHeader& header_;
  std::int64_t seen_ = 0;
};

void read_sparse(TextFile& file, const MatrixMarketHeader& header, const FormatOptions& options,
                 Counted& counted, Receiver& into) {
  SparseTensor tensor;
  tensor.file = file.path();
  tensor.shape = {header.rows, header.columns};
  tensor.tile = options.tile;
  tensor.dtype = dtype_in(header, options, file.path());
  tensor.entries = header.symmetry == Symmetry::general ? header.entries : 2 * header.entries;
  SparseTiles tiles(into, tensor, options);
  for_each_block(file, options, [&](const TextBlock& block) -> std::function<void()> {
    auto entries = std::make_shared<Entries>(2);
    entries->coordinates.reserve(block.text.size() / 8);
    entries->values.reserve(block.text.size() / 16);
    LinesWithValues lines = read_coordinates(block, file.path(), header, *entries);
    const std::int64_t count = entries->size();
    add_mirrored(*entries, header);
    return [&, entries, count, lines = std::move(lines), bytes = block.bytes] {
      counted.add(count, lines);
      tiles.add(*entries);
      into.advance(bytes, count);
    };
  });
  counted.finish();
  tiles.finish();
}

/// Calls `take(numbers)` in order with the values of an array, which stand column by column.
template <class Take>
void read_values(TextFile& file, const MatrixMarketHeader& header, const FormatOptions& options,
                 Counted& counted, Receiver& into, Take&& take) {
  for_each_block(file, options, [&](const TextBlock& block) -> std::function<void()> {
    auto values = std::make_shared<Numbers>();
    values->reserve(block.text.size() / 8);
    LinesWithValues lines{block.first_line};
    for_each_line(block, [&](std::string_view text, std::int64_t number) {
      LineCursor line(file.path(), text, number);
      line.skip();
      if (is_comment(line))
        lines.others.push_back(number);
      else
        read_value(line, header, *values);
    });
    return [&, values, lines = std::move(lines), bytes = block.bytes] {
      counted.add(static_cast<std::int64_t>(values->size()), lines);
      take(*values);
      into.advance(bytes, static_cast<std::int64_t>(values->size()));
    };
  });
  counted.finish();
}

void read_general_array(TextFile& file, const MatrixMarketHeader& header,
                        const FormatOptions& options, Counted& counted, Receiver& into) {
  TensorHead head;
  head.tile.dtype = dtype_in(header, options, file.path());
  const Shape transposed{header.columns, header.rows};
  const auto requested = requested_tile(options, 2);
  head.tile.shape = requested ? Shape{(*requested)[1], (*requested)[0]}
                              : chosen_band_tile(head.tile.dtype, transposed, options.memory);
  for (int d = 0; d < 2; ++d)
    head.tile.shape[d] = std::min(head.tile.shape[d], std::max<std::int64_t>(1, transposed[d]));
  RowBands columns(into, head, header.rows, options.memory, true);
  read_values(file, header, options, counted, into,
              [&](const Numbers& values) { columns.add(values); });
  columns.finish(header.columns);
}

/// The values are those of the lower triangle: each goes to two places.
void read_symmetric_array(TextFile& file, const MatrixMarketHeader& header,
                          const FormatOptions& options, Counted& counted, Receiver& into) {
  SparseTensor tensor;
  tensor.file = file.path();
  tensor.shape = {header.rows, header.columns};
  tensor.tile = options.tile;
  tensor.dtype = dtype_in(header, options, file.path());
  tensor.dense = true;
  SparseTiles tiles(into, tensor, options);
  const std::int64_t below = header.symmetry == Symmetry::skew ? 1 : 0;
  std::int64_t row = below, column = 0;
  read_values(file, header, options, counted, into, [&](const Numbers& values) {
    Entries entries(2);
    entries.values = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      entries.coordinates.push_back(row);
      entries.coordinates.push_back(column);
      if (++row >= header.rows) row = ++column + below;
    }
    add_mirrored(entries, header);
    tiles.add(entries);
  });
  tiles.finish();
}

void read_matrix_market(const InputFile& input, const FormatOptions& options, Receiver& into) {
  const std::string& from = input.name;
  check_options(options, "mtx", {"tile", "dtype"});
  TextFile file(input);
  const MatrixMarketHeader header = read_header(file);
  file.go_to(header.offset, header.line);
  Counted counted(file, header);
  if (options.tile) check_matrix_tile(*options.tile, from);
  if (header.coordinates)
    read_sparse(file, header, options, counted, into);
  else if (header.symmetry == Symmetry::general)
    read_general_array(file, header, options, counted, into);
  else
    read_symmetric_array(file, header, options, counted, into);
}

}  // namespace

const Format& matrix_market_format() {
  static const Format format{{"mtx", "Matrix Market: sparse and dense matrices as text", {".mtx"}},
                             read_matrix_market,
                             write_matrix_market};
  return format;
}

}  // namespace tessera::store
