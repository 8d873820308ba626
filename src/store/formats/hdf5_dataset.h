#pragma once

#include <memory>

#include "store/formats/array_source.h"

namespace tessera::store {

/// A dataset of an HDF5 file by its path in it, or the only one. For a process that does nothing
/// else, as a malformed file may break the library.
std::unique_ptr<ArraySource> open_dataset(const std::string& path, const std::string& member,
                                          std::int64_t memory);

}  // namespace tessera::store
