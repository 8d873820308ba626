#pragma once

#include "tessera/optimizer.h"
#include "tessera/run.h"

namespace tessera::exec {

/// How a run has its plans made physical: for the processes of the cluster, or for the sites that
/// the options name; without the optimizer, as they were written.
OptimizerOptions planning_options(const RunOptions& options);

/// How plans are carried out when nobody says.
std::vector<ia::Plan> physical_plans(const std::vector<Plan>& plans, const RunOptions& options);

}  // namespace tessera::exec
