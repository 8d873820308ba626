#pragma once

#include "query/loops/program.h"
#include "session/stored_definitions.h"

namespace tessera::session {

/// What CREATE TENSOR ... AS stores, in the tiles that the statement asks for, or else of that
/// extent; 0: in those that it comes in.
struct PlannedTensors {
  /// Each with its name. None of a program that is only planned and runs loops in sequence.
  std::vector<std::pair<std::string, query::Tensor>> tensors;
  lang::Location location;                             // of the expression
  std::vector<std::string> virtual_inputs = {};        // that are without data
  std::vector<std::vector<std::string>> program = {};  // how its loops run, line by line
};
/// `run`: null where nothing is to be run.
PlannedTensors planned(const sql::CreateTensor& statement, const Snapshot& snapshot,
                       StoredDefinitions& catalogue, int tile_size, const query::RunPlans& run,
                       lang::Location location);
/// TypeError if they read a virtual tensor: there is nothing to compute.
void refuse_virtual(const PlannedTensors& tensors);

}  // namespace tessera::session
