#include "optimizer/frames/search.h"

#include <algorithm>

#include "base/stop.h"
#include "optimizer/frames/coarsen.h"
#include "optimizer/frames/refine.h"
#include "optimizer/frames/split.h"

namespace tessera::frames {

namespace {

/// How far frames may be out of limits while operators change places.
std::int32_t slack_of(Limits limits) { return 1 + limits.max_size / 32; }

Order some_order(const OperatorGraph& graph, Limits limits, float disorder, Noise& noise) {
  switch (noise.below(5)) {
    case 0: return depth_first(graph, From::results, disorder, noise);
    case 1: return depth_first(graph, From::inputs, disorder, noise);
    case 2: return shuffled(graph, noise);
    default: return grown(graph, limits.max_size, disorder, noise);
  }
}

/// Forgets half of the borders between neighbouring frames.
void join_some_frames(Cut& cut, Noise& noise) {
  std::vector<std::int32_t> joined(static_cast<std::size_t>(cut.frames), 0);
  for (std::size_t frame = 1; frame < joined.size(); ++frame)
    joined[frame] = joined[frame - 1] + noise.below(2);
  for (std::int32_t& frame : cut.frame_of) frame = joined[frame];
  if (!joined.empty()) cut.frames = joined.back() + 1;
}

}  // namespace

void reorder_frames(const OperatorGraph& graph, Cut& cut, float disorder, Noise& noise) {
  std::vector<Edge> edges;
  for (std::int32_t op = 0; op < graph.size(); ++op)
    for (const Link& link : graph.consumers(op))
      if (cut.frame_of[op] != cut.frame_of[link.other])
        edges.push_back({cut.frame_of[op], cut.frame_of[link.other], link.probability});
  const OperatorGraph frames(cut.frames, std::move(edges));
  const Order order =
      noise.below(2) == 0
          ? depth_first(frames, noise.below(2) == 0 ? From::results : From::inputs, disorder, noise)
          : grown(frames, 4, disorder, noise);
  std::vector<std::int32_t> number(order.size());
  for (std::int32_t i = 0; i < cut.frames; ++i) number[order[i]] = i;
  for (std::int32_t& frame : cut.frame_of) frame = number[frame];
}

std::optional<Cut> multilevel(const OperatorGraph& graph, Limits limits, float disorder,
                              Noise& noise) {
  constexpr std::int32_t pieces = 8;  // of a frame, at least: fewer leave no choice
  std::vector<Coarse> levels;
  const auto graph_at = [&](std::size_t level) -> const OperatorGraph& {
    return level == 0 ? graph : levels[level - 1].graph;
  };
  while (true) {
    const OperatorGraph& finest = graph_at(levels.size());
    Coarse coarse = coarsen(finest, std::max(2, limits.max_size / pieces), noise);
    if (coarse.graph.size() > finest.size() * 19 / 20) break;
    levels.push_back(std::move(coarse));
  }
  std::optional<Cut> cut;
  for (std::size_t level = levels.size();; --level) {
    const OperatorGraph& here = graph_at(level);
    if (!cut)
      cut = split(here, some_order(here, limits, disorder, noise), limits);
    else
      cut = project(*cut, levels[level]);
    if (cut) refine(here, *cut, limits, slack_of(limits));
    if (level == 0) return cut;
  }
}

Cut search(const OperatorGraph& graph, Limits limits, Cut best, int attempts, Noise& noise,
           const std::stop_token& stop) {
  constexpr int patience = 120;  // attempts without success, after which it starts from elsewhere
  Cut current = best;
  int since = 0;
  for (int attempt = 0; attempt < attempts && best.expected_breakers > 0; ++attempt) {
    refuse_if_stopped(stop, "cutting the plan into frames");
    const float disorder = attempt == 0 ? 0 : noise.fraction();
    const int turn = attempt % 8;
    std::optional<Cut> found;
    if (turn == 0) {
      found = split(graph, some_order(graph, limits, disorder, noise), limits);
    } else if (turn == 1) {
      found = multilevel(graph, limits, disorder, noise);
    } else {
      Cut loose = current;
      if (turn % 2 == 0) reorder_frames(graph, loose, disorder, noise);
      if (turn > 2) join_some_frames(loose, noise);
      found = split(graph, in_frames(loose, some_order(graph, limits, disorder, noise)), limits);
    }
    if (!found) continue;
    refine(graph, *found, limits, slack_of(limits));
    since = found->expected_breakers < current.expected_breakers ? 0 : since + 1;
    const bool elsewhere = since > patience && turn < 2;
    // What is equal or a little worse is taken too: from another place there may be a way on.
    const double tolerance = 0.04 * noise.fraction() * noise.fraction();
    if (!elsewhere && found->expected_breakers > current.expected_breakers * (1 + tolerance))
      continue;
    if (elsewhere) since = 0;
    current = std::move(*found);
    if (current.expected_breakers <= best.expected_breakers) best = current;
  }
  return best;
}

}  // namespace tessera::frames
