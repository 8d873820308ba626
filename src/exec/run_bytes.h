#pragma once

#include "exec/planned_run.h"
#include "tra/plan_bytes.h"

namespace tessera::exec {

// A planned run as bytes has two parts: what is computed, and what was decided of it. Processes
// that run plans together all know the first, and send each other the second.

/// What is computed. The bytes are the same wherever the same plans of the same relations are made.
struct WrittenPlans {
  explicit WrittenPlans(const PlannedRun::State& run);
  PlanWriter writer = {};
  std::string bytes = {};
};

/// What was decided: the physical plans and the tasks. PlanError if something in it has come up
/// that bytes cannot hold and `after` does not have.
std::string decisions(const PlannedRun::State& run, WrittenPlans& after);

/// Takes over what another process has decided of the same run.
void take_decisions(PlannedRun::State& run, PlanReader& reader);

}  // namespace tessera::exec
