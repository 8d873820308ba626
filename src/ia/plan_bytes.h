#pragma once

#include <unordered_map>

#include "tessera/ia.h"
#include "tra/plan_bytes.h"

namespace tessera::ia {

/// Writes physical plans after logical ones: first what they compute, as far as it has not come
/// before, and then the physical operators, each once, inputs before what reads them. Which is
/// which follows from `ia::in_order`.
void put(PlanWriter& writer, const std::vector<Plan>& plans);

/// Reads them back. Placements are worked out anew, so that what does not fit together is refused.
std::vector<Plan> read_plans(PlanReader& reader);

}  // namespace tessera::ia
