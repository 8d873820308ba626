#include "base/check.h"
#include "store/formats/dense_export.h"
#include "store/formats/dense_import.h"

// Nothing but the elements of an array, in the machine's byte order: who reads must know the shape.

namespace tessera::store {
namespace {

void read_raw(const InputFile& from, const FormatOptions& options, Receiver& into) {
  check_options(options, "raw", {"tile", "dtype", "shape", "column_major"});
  TESSERA_REQUIRE(TypeError, options.shape && options.dtype,
                  "a raw file has no header: give its shape and dtype");
  const Shape& shape = *options.shape;
  StoredArray stored{element_of(*options.dtype), options.column_major ? reversed(shape) : shape,
                     options.column_major};
  FileArray array(open_to_read(from), 0, std::move(stored), from.name);
  import_array(array, options, "", into);
}

void write_raw(const std::vector<TensorReader*>& tensors, const OutputFile& to,
               const FormatOptions& options) {
  check_options(options, "raw", {"column_major"});
  TensorReader& tensor = only_array(tensors, "a raw file");
  const StoredArray array = array_of(tensor, options.column_major);
  File file = open_to_write(to);
  write_elements(tensor, array, file, 0, options);
}

}  // namespace

const Format& raw_format() {
  static const Format format{
      {"raw", "the elements of an array and nothing else", {".raw", ".bin"}}, read_raw, write_raw};
  return format;
}

}  // namespace tessera::store
