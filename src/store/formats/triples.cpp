#include "base/check.h"
#include "store/formats/coordinate_lines.h"
#include "store/formats/csv_lines.h"
#include "store/formats/dense_rows.h"
#include "store/formats/entry_spool.h"
#include "store/formats/sparse_tiles.h"
#include "store/formats/stored_entries.h"
#include "store/formats/text_output.h"

// A line an entry of a sparse tensor: its coordinates, then its value.

namespace tessera::store {
namespace {

struct TripleLines {
  CsvDialect dialect;
  FieldRules rules;
  std::int64_t base = 0;
  std::optional<Shape> shape;
};

/// A line under way, cut into fields by a delimiter.
class TripleReader {
 public:
  TripleReader(const TripleLines& lines, Entries& into)
      : lines_(lines), into_(into), delimiter_(lines.dialect.delimiter) {}

  void read(std::string_view text, std::int64_t number) {
    LineCursor line(lines_.rules.file, text, number);
    for (int d = 0; d < into_.rank; ++d)
      into_.coordinates.push_back(read_coordinate(line, text, d));
    skip_padding(line);
    const char* begin = line.at;
    if (read_value(line)) return;
    // No plain number, or not alone: looked at as a text.
    const auto fields = split_fields(text, delimiter_, line.file, number);
    check_count(line, fields);
    read_field(fields.back(), number, begin - line.begin + 1, lines_.rules, into_.values);
  }

 private:
  bool by_blanks() const { return delimiter_ == ' '; }
  void skip_padding(LineCursor& line) const {
    while (!line.done() && is_blank(*line.at) && (by_blanks() || *line.at != delimiter_)) ++line.at;
  }
  bool at_delimiter(const LineCursor& line) const {
    return !line.done() && (*line.at == delimiter_ || (by_blanks() && is_blank(*line.at)));
  }
  void check_count(const LineCursor& line, const std::vector<std::string>& fields) const {
    if (std::cmp_not_equal(fields.size(), into_.rank + 1))
      fail_at(line.file, line.line, 0,
              fmt::format("{} fields, but the first line has {}", fields.size(), into_.rank + 1));
  }

  std::int64_t read_coordinate(LineCursor& line, std::string_view text, int dimension) {
    skip_padding(line);
    const char* begin = line.at;
    std::int64_t coordinate = 0;
    const bool read = read_index(line.at, line.end, coordinate);
    if (!by_blanks()) skip_padding(line);
    const auto fail = [&](const std::string& reason) {
      line.at = begin;
      line.fail(reason);
    };
    if (!read || !at_delimiter(line)) {
      const auto fields = split_fields(text, delimiter_, line.file, line.line);
      check_count(line, fields);
      const std::string& field = fields[dimension];
      const bool digits = !field.empty() && field.find_first_not_of("0123456789") == field.npos;
      if (digits) fail(fmt::format("coordinate {} is too large", shown(field)));
      fail(fmt::format("{} is not a coordinate: coordinates are integers, at least {}",
                       shown(fields[dimension]), lines_.base));
    }
    if (coordinate < lines_.base)
      fail(fmt::format("coordinate {} is less than {}", coordinate, lines_.base));
    if (lines_.shape && coordinate - lines_.base >= (*lines_.shape)[dimension])
      fail(fmt::format("coordinate {} (counted from {}) is out of range for shape {}", coordinate,
                       lines_.base, to_string(*lines_.shape)));
    ++line.at;
    return coordinate - lines_.base;
  }

  /// Whether the rest of the line is a number, which most are.
  bool read_value(LineCursor& line) {
    if (lines_.rules.most != NumberKind::real || line.done() || (*line.at | 0x20) == 'n' ||
        !read_number(line.at, line.end, into_.values))
      return false;
    line.skip();
    if (line.done()) return true;
    into_.values.remove_last();
    return false;
  }

  const TripleLines& lines_;
  Entries& into_;
  const char delimiter_;
};

void read_entries(const TextBlock& block, const TripleLines& lines, Entries& into) {
  TripleReader reader(lines, into);
  for_each_line(block, [&](std::string_view text, std::int64_t number) {
    if (number != lines.dialect.header_line && !is_skipped(text)) reader.read(text, number);
  });
}

void read_triples(const InputFile& input, const FormatOptions& options, Receiver& into) {
  const std::string& from = input.name;
  check_options(options, "triples",
                {"tile", "dtype", "shape", "delimiter", "header", "missing", "index_base"});
  TextFile file(input);
  std::vector<char> buffer;
  TripleLines lines;
  lines.dialect = csv_dialect(file.head(1 << 16, buffer), from, options);
  lines.rules = {from, options.dtype == DType::i64 ? NumberKind::integer : NumberKind::real,
                 options.missing};
  lines.base = index_base(options, 0);
  lines.shape = options.shape;
  int rank = static_cast<int>(lines.dialect.columns) - 1;
  if (rank < 0 && options.shape) rank = options.shape->rank();  // no lines, but a shape
  TESSERA_REQUIRE(IoError, rank >= 0,
                  "{} has no entries, so its shape is not known: set shape=", from);
  TESSERA_REQUIRE(IoError, rank >= 1 && rank <= max_rank,
                  "{}: {} fields per line; a line must have 1 to {} coordinates and a value", from,
                  rank + 1, max_rank);
  TESSERA_REQUIRE(TypeError, !options.shape || options.shape->rank() == rank,
                  "{} has {} coordinates per line, which does not fit shape {}", from, rank,
                  to_string(*options.shape));
  EntrySpool spool(rank, options.memory);
  for_each_block(file, options, [&](const TextBlock& block) -> std::function<void()> {
    auto entries = std::make_shared<Entries>(rank);
    read_entries(block, lines, *entries);
    return [&spool, &into, entries, bytes = block.bytes] {
      spool.add(*entries);
      into.advance(bytes, entries->size());
    };
  });
  SparseTensor tensor;
  tensor.file = from;
  tensor.shape = options.shape.value_or(spool.extents());
  tensor.tile = options.tile;
  tensor.dtype =
      options.dtype.value_or(spool.size() == 0 ? DType::f64 : dtype_of_kind(spool.kind()));
  tensor.entries = spool.size();
  SparseTiles tiles(into, tensor, options);
  spool.replay([&](Entries& entries) { tiles.add(entries); });
  tiles.finish();
}

void write_triples(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                   const FormatOptions& options) {
  check_options(options, "triples", {"delimiter", "header", "index_base"});
  TensorReader& tensor = only_tensor(tensors, "triples");
  const int rank = tensor_shape(tensor, "triples").rank();
  TESSERA_REQUIRE(TypeError, rank >= 1, "cannot export \"{}\" with coordinates: it is a scalar",
                  tensor.name());
  const char delimiter = options.delimiter != '\0' ? options.delimiter : ',';
  const std::int64_t base = index_base(options, 0);
  TextOutput out(to);
  if (options.header.value_or(false)) {
    for (int d = 0; d < rank; ++d) {
      out.put('i');
      out.put_integer(d);
      out.put(delimiter);
    }
    out.put("value\n");
  }
  for_each_entry_tile(tensor, [&](const Tile& tile, const Index& corner) {
    for_each_entry(tile, corner, [&](const Index& at, std::int64_t entry) {
      for (int d = 0; d < rank; ++d) {
        out.put_integer(at[d] + base);
        out.put(delimiter);
      }
      out.put_element(tile, entry);
      out.put('\n');
    });
    tensor.advance(out.take_written(), tile.stored());
  });
  out.finish();
}

}  // namespace

const Format& triples_format() {
  static const Format format{
      {"triples",
       "the entries of a sparse tensor, one per line: coordinates, then the value",
       {".triples", ".coo", ".tns"}},
      read_triples,
      write_triples};
  return format;
}

}  // namespace tessera::store
