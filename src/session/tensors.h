#pragma once

#include "query/loops/program.h"
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
/// TypeError if it reads a virtual tensor: there is nothing to compute.
void refuse_virtual(const PlannedTensor& tensor);

/// What CREATE TENSOR ... AS stores, in the tiles that the statement asks for, or else of that
/// extent; 0: in those that it comes in.
struct PlannedTensors {
  std::vector<PlannedTensor> tensors;  // none of a program that is not run and has to be
  std::vector<std::vector<std::string>> program = {};  // how its loops run, line by line
};
/// `run`: null where nothing is to be run.
PlannedTensors planned(const sql::CreateTensor& statement, const Snapshot& snapshot,
                       StoredDefinitions& catalogue, int tile_size, const query::RunPlans& run,
                       lang::Location location);
void refuse_virtual(const PlannedTensors& tensors);

}  // namespace tessera::session
