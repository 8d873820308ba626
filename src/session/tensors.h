#pragma once

#include "query/tensors/tensor.h"
#include "session/stored_definitions.h"

namespace tessera::session {

/// A tensor that a statement computes, under the name of what is made of it.
struct PlannedTensor {
  std::string name;
  query::Tensor tensor;
  lang::Location location;                       // of the expression
  std::vector<std::string> virtual_inputs = {};  // because of which it can be explained, not run
  std::optional<std::int64_t> nonzeros = {};     // where that is known
};
/// An expression over the tensors of the database, in the tiles that it comes in.
PlannedTensor planned(const std::string& name, const sql::Expression& expression,
                      const Snapshot& snapshot, StoredDefinitions& catalogue);
/// What CREATE TENSOR ... AS stores, in the tiles that the statement asks for, or else of that
/// extent; 0: in those that it comes in.
PlannedTensor planned(const sql::CreateTensor& statement, const Snapshot& snapshot,
                      StoredDefinitions& catalogue, int tile_size, lang::Location location);
/// TypeError if it reads a virtual tensor: there is nothing to compute.
void refuse_virtual(const PlannedTensor& tensor);

}  // namespace tessera::session
