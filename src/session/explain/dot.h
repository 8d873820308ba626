#pragma once

#include "session/explain/analysis.h"
#include "session/explain/outline.h"

namespace tessera::session {

/// The operators of queries as a graph for Graphviz, frames as clusters; with an analysis, what
/// they took.
std::string dot_text(const Outline& outline, const Analysis* analysis = nullptr);
/// Physical plans as such a graph, with what is predicted of each operator.
std::string dot_text(const OptimizedPlan& plan);
/// A run, with what was predicted and measured.
std::string dot_text(const Analysis::Run& run);

}  // namespace tessera::session
