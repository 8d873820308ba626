#pragma once

#include <functional>

#include "store/formats/array_source.h"
#include "store/formats/format.h"

namespace tessera::store {

/// How a tensor is going to lie in a file. TypeError if it is no tensor cut into tiles,
/// IoError or OutOfMemory if there is no room for its zeros, in a file or of a tile in memory.
StoredArray array_of(const TensorReader& tensor, bool column_major);

/// The tensor for a format that holds one; TypeError, in which `file` is what cannot hold them, if
/// there are several or none.
TensorReader& only_array(const std::vector<TensorReader*>& tensors, std::string_view file);

/// Writes its elements to a file from an offset on, zeros included.
void write_elements(TensorReader& tensor, const StoredArray& array, File& file, std::int64_t offset,
                    const FormatOptions& options);

/// Calls `write` with a box of the array and its elements, the last dimension fastest, until all
/// that is not zero was there: several threads at once, if `parallel`. What the boxes leave out is
/// zero.
void for_each_box(TensorReader& tensor, const StoredArray& array, const FormatOptions& options,
                  bool parallel,
                  const std::function<void(const Box&, const std::byte* elements)>& write);

}  // namespace tessera::store
