#include "optimizer/frames/cut.h"

#include <algorithm>

#include "base/check.h"
#include "optimizer/frames/refine.h"
#include "optimizer/frames/search.h"
#include "optimizer/frames/split.h"
#include "optimizer/frames/windows.h"

namespace tessera::frames {

namespace {

/// Windows of so many frames, in turns, with so many attempts at each.
constexpr std::int32_t windows[] = {3, 4, 2, 6};
constexpr int attempts = 16;
constexpr int rounds = 8;

/// The best of what plain orders give, and of one way through coarser graphs.
Cut first_cut(const OperatorGraph& graph, Limits limits, Noise& noise) {
  std::optional<Cut> best;
  const auto consider = [&](std::optional<Cut> found) {
    if (found && (!best || found->expected_breakers < best->expected_breakers))
      best = std::move(found);
  };
  consider(split(graph, by_number(graph), limits));
  consider(split(graph, depth_first(graph, From::results, 0, noise), limits));
  consider(split(graph, depth_first(graph, From::inputs, 0, noise), limits));
  consider(split(graph, grown(graph, limits.max_size, 0, noise), limits));
  TESSERA_INVARIANT(best, "no order of {} operators has a split into frames of {} to {}",
                    graph.size(), limits.min_size, limits.max_size);
  refine(graph, *best, limits, 0);
  consider(multilevel(graph, limits, 0, noise));
  return std::move(*best);
}

}  // namespace

std::int32_t least_size(std::int64_t operators, Limits limits) {
  if (operators == 0) return limits.min_size;
  const std::int64_t frames = (operators + limits.max_size - 1) / limits.max_size;
  return static_cast<std::int32_t>(std::min(std::int64_t{limits.min_size}, operators / frames));
}

double expected_breakers(const OperatorGraph& graph, const std::vector<std::int32_t>& frame_of) {
  double sum = 0;
  for (std::int32_t op = 0; op < graph.size(); ++op)
    for (const Link& link : graph.consumers(op))
      if (frame_of[op] != frame_of[link.other]) sum += link.probability;
  return sum;
}

Cut cut(const OperatorGraph& graph, Limits limits, const std::stop_token& stop) {
  TESSERA_REQUIRE(PlanError, limits.min_size >= 1 && limits.min_size <= limits.max_size,
                  "invalid frame sizes {} to {}: the least size must be positive and not above the "
                  "largest",
                  limits.min_size, limits.max_size);
  const std::int32_t n = graph.size();
  if (n <= limits.max_size)
    return {std::vector<std::int32_t>(static_cast<std::size_t>(n), 0), n == 0 ? 0 : 1, 0};
  limits.min_size = least_size(n, limits);

  Noise noise(1);
  Cut best = first_cut(graph, limits, noise);
  // As a whole, for as long as that costs no more than the windows do.
  best = search(graph, limits, std::move(best), std::min(400'000 / n, 4'000), noise, stop);
  int idle = 0;
  for (int round = 0; round < rounds && idle < 2 && best.expected_breakers > 0; ++round) {
    Cut next = best;
    if (round > 0) reorder_frames(graph, next, round == 1 ? 0.F : noise.fraction(), noise);
    const Effort effort{
        .window = windows[round % std::ssize(windows)], .attempts = attempts, .stop = stop};
    const double gained = improve_windows(graph, next, limits, effort, noise);
    if (next.expected_breakers <= best.expected_breakers) best = std::move(next);
    idle = gained < 0.002 * best.expected_breakers ? idle + 1 : 0;
  }
  return best;
}

}  // namespace tessera::frames
