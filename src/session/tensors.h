#pragma once

#include "query/tensors/tensor.h"
#include "session/stored_definitions.h"

namespace tessera::session {

/// What CREATE TENSOR ... AS stores, in the tiles that the statement asks for, or else of that
/// extent; 0: in those that it comes in.
struct PlannedTensor {
  std::string name;
  query::Tensor tensor;
  lang::Location location;                       // of the expression
  std::vector<std::string> virtual_inputs = {};  // because of which it can be explained, not run
};
PlannedTensor planned(const sql::CreateTensor& statement, const Snapshot& snapshot,
                      StoredDefinitions& catalogue, int tile_size, lang::Location location);
/// TypeError if it reads a virtual tensor: there is nothing to compute.
void refuse_virtual(const PlannedTensor& tensor);

}  // namespace tessera::session
