#pragma once

#include <memory>

#include "base/outside.h"
#include "store/formats/array_source.h"
#include "tessera/formats.h"

namespace tessera::store {

/// A dataset of an HDF5 file by its path in it, or the only one. For a process that does nothing
/// else, as a malformed file may break the library. IoError if its elements are, or may be, in
/// other files, unless the options ask for them.
std::unique_ptr<ArraySource> open_dataset(const InputFile& input, const FormatOptions& options);

}  // namespace tessera::store
