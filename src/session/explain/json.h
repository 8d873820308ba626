#pragma once

#include "session/explain/analysis.h"
#include "session/explain/outline.h"

namespace tessera::session {

/// What EXPLAIN tells, for programs.
std::string json_text(const Outline& outline, const Analysis* analysis);

}  // namespace tessera::session
