#include "store/formats/npy.h"

#include "base/check.h"
#include "store/formats/dense_export.h"
#include "store/formats/dense_import.h"

// NumPy's format of one array: a head in Python's notation, then the elements.

namespace tessera::store {
namespace {

void read_npy(const InputFile& from, const FormatOptions& options, Receiver& into) {
  check_options(options, "npy", {"tile", "dtype"});
  File file = open_to_read(from);
  std::int64_t at = 0;
  NpyHead head = read_npy_head(
      [&](std::span<std::byte> bytes) {
        const std::size_t there = file.read_some(at, bytes);
        at += static_cast<std::int64_t>(there);
        return there;
      },
      from.name);
  FileArray array(std::move(file), head.bytes, std::move(head.array), from.name);
  into.advance(head.bytes, 0);
  import_array(array, options, "", into);
}

void write_npy(const std::vector<TensorReader*>& tensors, const OutputFile& to,
               const FormatOptions& options) {
  check_options(options, "npy", {"column_major"});
  TensorReader& tensor = only_array(tensors, "an npy file");
  const StoredArray array = array_of(tensor, options.column_major);
  const std::string head = npy_head(array);
  File file = open_to_write(to);
  file.write(0, std::as_bytes(std::span(head)));
  write_elements(tensor, array, file, static_cast<std::int64_t>(head.size()), options);
}

}  // namespace

const Format& npy_format() {
  static const Format format{{"npy", "a NumPy array", {".npy"}}, read_npy, write_npy};
  return format;
}

}  // namespace tessera::store
