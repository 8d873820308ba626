#pragma once

#include <functional>

#include "store/formats/array_source.h"

namespace tessera::store {

/// The head of an array in NumPy's format, and where its elements begin.
struct NpyHead {
  StoredArray array;
  std::int64_t bytes = 0;
};

/// Reads a head. `read` fills the span with what follows what it has read, as far as there is
/// something, and says how much there was; `what` names the file in errors.
NpyHead read_npy_head(const std::function<std::size_t(std::span<std::byte>)>& read,
                      const std::string& what);
std::string npy_head(const StoredArray& array);

}  // namespace tessera::store
