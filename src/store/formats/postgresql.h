#pragma once

#include "store/formats/format.h"

namespace tessera::store {

/// Imports the rows of a query (`options.query`): entries, or with `tile_a_row` whole tiles.
void read_postgresql(const InputFile& from, const FormatOptions& options, Receiver& into);

/// Makes a table (`options.member`) of a tensor's entries, or with `tile_a_row` of a relation's
/// tiles, in one transaction.
void write_postgresql(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                      const FormatOptions& options);

}  // namespace tessera::store
