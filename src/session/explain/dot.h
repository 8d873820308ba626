#pragma once

#include "session/explain/analysis.h"
#include "session/explain/outline.h"

namespace tessera::session {

/// A statement as a graph for Graphviz: the operators of its queries, frames as clusters, and the
/// physical plans, a cluster each, with what is predicted of each operator; with an analysis, also
/// what was measured; if that is wanted, with what the planner did.
std::string dot_text(const Outline& outline, const Analysis* analysis, bool verbose);

}  // namespace tessera::session
