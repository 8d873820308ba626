#pragma once

#include "store/formats/array_source.h"
#include "store/formats/format.h"

namespace tessera::store {

/// Cuts a dense array into tiles, of which no more are held at a time than options.memory allows.
void import_array(ArraySource& source, const FormatOptions& options, const std::string& suffix,
                  Receiver& into);

}  // namespace tessera::store
