#pragma once

#include "tessera/run.h"

namespace tessera::exec {

/// How plans are carried out when nobody says: as the optimizer finds best for the processes of the
/// cluster, or for the sites that the options name.
std::vector<ia::Plan> physical_plans(const std::vector<Plan>& plans, const RunOptions& options);

}  // namespace tessera::exec
