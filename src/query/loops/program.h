#pragma once

#include "lang/sql/program.h"
#include "query/tensors/tensor_expression.h"

namespace tessera::query {

/// Runs plans at once, and yields what they come to.
using RunPlans = std::function<std::vector<Relation>(const std::vector<Plan>&)>;

struct BoundProgram {
  /// What each of the wanted arrays is at the end; empty where this is known only when the program
  /// runs, because loops run in sequence.
  std::vector<Tensor> results;
  /// Its steps, with how each loop runs.
  std::vector<std::vector<std::string>> outline;
};

/// What a program over arrays makes of the arrays `wanted`. Loops whose iterations are independent
/// become array comprehensions; others run in sequence, and so do their iterations one after the
/// other: a run of plans for each. `run`: null where nothing is to be run.
BoundProgram bind_program(const sql::Program& program, const std::vector<std::string>& wanted,
                          const TensorNamed& named, const RunPlans& run, lang::Location location);

}  // namespace tessera::query
