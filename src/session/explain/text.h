#pragma once

#include "session/explain/analysis.h"
#include "session/explain/outline.h"

namespace tessera::session {

/// What the language makes of a statement: its operators as trees, with why some look at rows, or
/// the type and the expression of a tensor. With an analysis, what the rows took.
std::string tree_text(const Outline& outline, const Analysis* analysis = nullptr);
/// How a plan is cut into frames.
std::string frames_text(const Outline& outline);
/// What the passes of the statement took that come before there are plans.
std::string passes_text(const Outline& outline);
/// The runs that are planned, each with its memory; if that is wanted, with what the planner did.
std::string parts_text(const Outline& outline, bool verbose);

/// Plans that were run together: a tree with what was predicted of each operator and what it took.
std::string run_text(const Analysis::Run& run);
/// All that was predicted and measured of a statement, frame by frame or run by run; if that is
/// wanted, with what the planner did.
std::string analysis_text(const Outline& outline, const Analysis& analysis, bool verbose);

/// The largest plans are told in part: their last versions, and the frames at both ends.
inline constexpr std::size_t most_trees = 4;
inline bool is_shown(std::size_t frame, std::size_t frames) {
  return frame < 20 || frame + 3 >= frames;
}

}  // namespace tessera::session
