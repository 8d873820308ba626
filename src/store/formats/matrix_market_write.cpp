#include "store/formats/matrix_market_write.h"

#include "store/formats/dense_rows.h"
#include "store/formats/stored_entries.h"
#include "store/formats/text_output.h"

namespace tessera::store {
namespace {

const char* field_of(DType dtype) {
  if (dtype == DType::boolean) return "pattern";
  return dtype == DType::i64 ? "integer" : "real";
}

void put_sizes(TextOutput& out, std::initializer_list<std::int64_t> sizes) {
  const char* before = "";
  for (const std::int64_t size : sizes) {
    out.put(before);
    out.put_integer(size);
    before = " ";
  }
  out.put('\n');
}

bool is_zero(const Tile& tile, std::int64_t entry) {
  return tile.dtype() == DType::boolean && !tile.is_sparse() && !tile.data<bool>()[entry];
}

void write_coordinates(TensorReader& tensor, const Shape& shape, TextOutput& out) {
  const DType dtype = tensor.type().columns[0].type.dtype;
  // The number of entries stands before them: the tiles are read twice.
  std::int64_t entries = 0;
  for_each_entry_tile(tensor, [&](const Tile& tile, const Index&) {
    for_each_entry(tile, Index(tile.rank(), 0),
                   [&](const Index&, std::int64_t entry) { entries += !is_zero(tile, entry); });
  });
  out.put("%%MatrixMarket matrix coordinate ");
  out.put(field_of(dtype));
  out.put(" general\n");
  put_sizes(out, {shape[0], shape[1], entries});
  for_each_entry_tile(tensor, [&](const Tile& tile, const Index& corner) {
    for_each_entry(tile, corner, [&](const Index& at, std::int64_t entry) {
      if (is_zero(tile, entry)) return;
      out.put_integer(at[0] + 1);
      out.put(' ');
      out.put_integer(at.rank() == 2 ? at[1] + 1 : 1);
      if (dtype != DType::boolean) {
        out.put(' ');
        out.put_element(tile, entry);
      }
      out.put('\n');
    });
    tensor.advance(out.take_written(), tile.stored());
  });
}

void write_array(TensorReader& tensor, const Shape& shape, std::int64_t memory, TextOutput& out) {
  out.put("%%MatrixMarket matrix array ");
  out.put(field_of(tensor.type().columns[0].type.dtype));
  out.put(" general\n");
  put_sizes(out, {shape[0], shape[1]});
  for_each_slab(tensor, 1, memory, [&](const Tile& columns) {
    for (std::int64_t i = 0; i < columns.elements(); ++i) {
      out.put_element(columns, i);
      out.put('\n');
    }
    tensor.advance(out.take_written(), columns.shape()[0]);
  });
}

}  // namespace

void write_matrix_market(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                         const FormatOptions& options) {
  check_options(options, "mtx", {});
  TensorReader& tensor = only_tensor(tensors, "mtx");
  const Shape shape = matrix_shape(tensor, "mtx");
  const RelationType& type = tensor.type();
  // There are no arrays of booleans: true ones have coordinates.
  const bool coordinates = type.presence == Presence::sparse || type.columns[0].type.is_sparse() ||
                           type.columns[0].type.dtype == DType::boolean;
  TextOutput out(to);
  if (coordinates)
    write_coordinates(tensor, shape, out);
  else
    write_array(tensor, shape, options.memory, out);
  out.finish();
}

}  // namespace tessera::store
