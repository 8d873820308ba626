#pragma once

#include "session/explain/analysis.h"
#include "session/explain/outline.h"

namespace tessera::session {

/// What EXPLAIN tells, for programs. `parts`: the optimized plans of the outline's parts.
std::string json_text(const Outline& outline, const std::vector<OptimizedPlan>& parts,
                      const Analysis* analysis);

}  // namespace tessera::session
