#pragma once

#include <optional>

#include "exec/context.h"
#include "exec/prepare.h"
#include "optimizer/passes.h"
#include "tessera/run.h"

namespace tessera {

/// Everything that was decided about plans that run together, and, unless an input has a type and
/// no tuples, their tasks.
struct PlannedRun::State {
  std::vector<Plan> logical;
  exec::Context context;
  Results results;
  optimizer::Planning planning;
  std::optional<exec::Prepared> prepared = {};

  /// PlanError if it cannot be run.
  exec::Prepared take_to_run();
};

}  // namespace tessera
