#include "base/check.h"
#include "store/formats/csv_lines.h"
#include "store/formats/dense_rows.h"
#include "store/formats/format.h"
#include "store/formats/row_bands.h"
#include "store/formats/text_output.h"

// Lines of numbers: each line a row of a dense matrix.

namespace tessera::store {
namespace {

constexpr std::int64_t sample_bytes = 1 << 20;

NumberKind most_kind(const FormatOptions& options) {
  if (options.dtype == DType::i64) return NumberKind::integer;
  if (options.dtype == DType::boolean) return NumberKind::boolean;
  return NumberKind::real;
}

struct Contents {
  NumberKind kind = NumberKind::boolean;
  std::int64_t rows = 0;  // about, if only the first lines were looked at
};

/// Which dtype the file needs. A real among the first lines tells; integers must be seen to the
/// last line, and are then read twice.
Contents look_through(TextFile& file, const TextBlock& head, const CsvDialect& dialect,
                      const FieldRules& rules, const FormatOptions& options, Receiver& into) {
  Numbers sample;
  Contents found;
  found.rows = read_rows(head, dialect, rules, sample);
  found.kind = sample.kind();
  if (head.bytes == file.size()) return found;
  if (found.kind == NumberKind::real || options.dtype) {
    const double share = static_cast<double>(head.bytes) / static_cast<double>(file.size());
    found.rows = static_cast<std::int64_t>(static_cast<double>(found.rows) / share);
    return found;
  }
  found = {};
  for_each_block(file, options, [&](const TextBlock& block) -> std::function<void()> {
    Numbers values;
    const std::int64_t rows = read_rows(block, dialect, rules, values);
    return [&found, &into, rows, kind = values.kind()] {
      found.kind = std::max(found.kind, kind);
      found.rows += rows;
      into.advance(0, 0);
    };
  });
  file.go_to(0, 1);
  return found;
}

void read_csv(const InputFile& input, const FormatOptions& options, Receiver& into) {
  const std::string& from = input.name;
  check_options(options, "csv", {"tile", "dtype", "delimiter", "header", "missing"});
  TextFile file(input);
  std::vector<char> buffer;
  const TextBlock head = file.head(sample_bytes, buffer);
  const CsvDialect dialect = csv_dialect(head, from, options);
  TESSERA_REQUIRE(IoError, dialect.columns > 0, "{}, line 1: the file has no data", from);
  const FieldRules rules{from, most_kind(options), options.missing};
  const Contents contents = look_through(file, head, dialect, rules, options, into);

  TensorHead tensor;
  tensor.tile.dtype =
      options.dtype.value_or(contents.rows == 0 ? DType::f64 : dtype_of_kind(contents.kind));
  const Shape shape{contents.rows, dialect.columns};
  tensor.tile.shape = requested_tile(options, 2)
                          .value_or(chosen_band_tile(tensor.tile.dtype, shape, options.memory));
  check_matrix_tile(tensor.tile.shape, from);
  // There are not more rows than bytes, and no more columns than that: no tile is made larger.
  tensor.tile.shape[0] = std::min(tensor.tile.shape[0], file.size());
  tensor.tile.shape[1] = std::min(tensor.tile.shape[1], dialect.columns);
  RowBands bands(into, tensor, dialect.columns, options.memory);
  for_each_block(file, options, [&](const TextBlock& block) -> std::function<void()> {
    auto values = std::make_shared<Numbers>();
    values->reserve(block.text.size() / 8);
    const std::int64_t rows = read_rows(block, dialect, rules, *values);
    return [&bands, &into, values, rows, bytes = block.bytes] {
      bands.add(*values);
      into.advance(bytes, rows);
    };
  });
  bands.finish();
}

void write_csv(const std::vector<TensorReader*>& tensors, const OutputFile& to,
               const FormatOptions& options) {
  check_options(options, "csv", {"delimiter", "header"});
  TensorReader& tensor = only_tensor(tensors, "csv");
  const Shape shape = matrix_shape(tensor, "csv");
  const bool tabs = to.name.ends_with(".tsv") || to.name.ends_with(".TSV");
  const char delimiter = options.delimiter != '\0' ? options.delimiter : tabs ? '\t' : ',';
  TextOutput out(to);
  // Without rows a header tells how many columns there are.
  if (options.header.value_or(shape[0] == 0)) {
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      if (c > 0) out.put(delimiter);
      out.put('c');
      out.put_integer(c);
    }
    out.put('\n');
  }
  for_each_slab(tensor, 0, options.memory, [&](const Tile& slab) {
    for (std::int64_t row = 0; row < slab.shape()[0]; ++row) {
      for (std::int64_t c = 0; c < shape[1]; ++c) {
        if (c > 0) out.put(delimiter);
        out.put_element(slab, row * shape[1] + c);
      }
      out.put('\n');
    }
    tensor.advance(out.take_written(), slab.shape()[0]);
  });
  out.finish();
}

}  // namespace

const Format& csv_format() {
  static const Format format{
      {"csv", "lines of numbers, one row of a dense matrix per line", {".csv", ".tsv", ".txt"}},
      read_csv,
      write_csv};
  return format;
}

}  // namespace tessera::store
