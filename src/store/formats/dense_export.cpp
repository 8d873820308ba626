#include "store/formats/dense_export.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/parallel.h"
#include "store/formats/tensor_progress.h"
#include "tile/buffer.h"

namespace tessera::store {
namespace {

/// A tile as it is going to lie in the file.
Tile stored_tile(const TensorReader& tensor, const StoredArray& array, const Key& key) {
  const Tile tile = tensor.read(array.column_major ? reversed(key) : key).dense();
  return (array.column_major ? tile.transpose() : tile).contiguous();
}

}  // namespace

StoredArray array_of(const TensorReader& tensor, bool column_major) {
  TESSERA_REQUIRE(TypeError, tensor.shape().has_value(),
                  "\"{}\" is {}, not a tensor cut into tiles, and cannot be written as an array",
                  tensor.name(), to_string(tensor.type()));
  const Shape& shape = *tensor.shape();
  const StoredArray array{element_of(tensor.type().columns[0].type.dtype),
                          column_major ? reversed(shape) : shape, column_major};
  array.check(tensor.name());
  const TileType& tile = tensor.type().columns[0].type;
  // As it is read, and as it is written.
  if (tile.is_sparse())
    tensor.require_room(2.0 * static_cast<double>(tile.shape.elements() * size_of(array.element)));
  return array;
}

TensorReader& only_array(const std::vector<TensorReader*>& tensors, std::string_view file) {
  TESSERA_REQUIRE(TypeError, tensors.size() == 1,
                  "{} holds one array, not {}; use npz or hdf5 for several", file, tensors.size());
  return *tensors[0];
}

void for_each_box(TensorReader& tensor, const StoredArray& array, const FormatOptions& options,
                  bool parallel, const std::function<void(const Box&, const std::byte*)>& write) {
  const std::int64_t size = size_of(array.element);
  Shape tile = tensor.type().columns[0].type.shape;
  for (std::int64_t& extent : tile) extent = std::max<std::int64_t>(1, extent);
  if (array.column_major) tile = reversed(tile);
  const std::int64_t tile_bytes =
      2 * tile.elements() * size;  // as it is read, and as it is written
  const int threads = static_cast<int>(std::clamp<std::int64_t>(
      options.memory / std::max<std::int64_t>(1, tile_bytes), 1, thread_count(options.threads)));
  const TileGroups groups(
      array.shape, tile,
      {size, long_run, std::max<std::int64_t>(0, options.memory / threads - tile_bytes)});
  TensorProgress<TensorReader> progress(*tensor.shape(), array.bytes(), tensor);

  const std::vector<Key> present = tensor.keys();
  const auto is_there = [&](const Key& stored_key) {
    return std::binary_search(present.begin(), present.end(),
                              array.column_major ? reversed(stored_key) : stored_key);
  };
  do_in_parallel(groups.count(), parallel ? threads : 1, [&](std::int64_t i) {
    const TileGroups::Group group = groups[i];
    const Box box = groups.box_of(group);
    const std::int64_t elements = box.shape().elements();
    if (elements == 0) return;
    if (group.is_one_tile()) {
      if (is_there(group.first)) write(box, stored_tile(tensor, array, group.first).bytes_begin());
      return progress.add(elements);
    }
    const auto buffer = allocate_buffer(static_cast<std::size_t>(elements * size));
    std::memset(buffer.get(), 0, static_cast<std::size_t>(elements * size));
    Key key = group.first;
    do {
      if (!is_there(key)) continue;
      const Tile part = stored_tile(tensor, array, key);
      for_each_run(box.shape(), groups.box_of(key).seen_from(box.begin),
                   [&](std::int64_t to, std::int64_t from, std::int64_t count) {
                     std::memcpy(buffer.get() + to * size, part.bytes_begin() + from * size,
                                 static_cast<std::size_t>(count * size));
                   });
    } while (group.step(key));
    write(box, buffer.get());
    progress.add(elements);
  });
}

void write_elements(TensorReader& tensor, const StoredArray& array, File& file, std::int64_t offset,
                    const FormatOptions& options) {
  const std::int64_t size = size_of(array.element);
  file.truncate(offset + array.bytes());  // what is not written reads as zeros
  for_each_box(tensor, array, options, true, [&](const Box& box, const std::byte* elements) {
    for_each_run(array.shape, box, [&](std::int64_t at, std::int64_t position, std::int64_t count) {
      file.write(offset + at * size,
                 {elements + position * size, static_cast<std::size_t>(count * size)});
    });
  });
}

}  // namespace tessera::store
