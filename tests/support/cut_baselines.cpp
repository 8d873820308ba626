#include "support/cut_baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optimizer/frames/orders.h"
#include "tessera/error.h"

namespace tessera {

using namespace frames;

std::string fault_of(const Cut& cut, const OperatorGraph& graph, Limits limits) {
  if (std::ssize(cut.frame_of) != graph.size()) return "not every operator has a frame";
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(cut.frames), 0);
  double sum = 0;
  for (std::int32_t op = 0; op < graph.size(); ++op) {
    const std::int32_t frame = cut.frame_of[op];
    if (frame < 0 || frame >= cut.frames) return fmt::format("there is no frame {}", frame);
    ++sizes[frame];
    for (const Link& link : graph.producers(op)) {
      if (cut.frame_of[link.other] > frame)
        return fmt::format("operator {} in frame {} reads {} in frame {}", op, frame, link.other,
                           cut.frame_of[link.other]);
      if (cut.frame_of[link.other] != frame) sum += link.probability;
    }
  }
  // Sizes as if the operators were dealt out evenly to as few frames as possible: no cut can have a
  // larger least frame.
  const std::int32_t fewest = (graph.size() + limits.max_size - 1) / limits.max_size;
  const std::int32_t least =
      graph.size() == 0 ? 0 : std::min(limits.min_size, graph.size() / fewest);
  for (const std::int32_t size : sizes)
    if (size < least || size > limits.max_size || size == 0)
      return fmt::format("a frame of {} operators, not of {} to {}", size, least, limits.max_size);
  if (std::abs(sum - cut.expected_breakers) > 1e-6 * (1 + sum))
    return fmt::format("{} breakers are expected, not {}", sum, cut.expected_breakers);
  return "";
}

namespace {

/// The cut of an order into pieces of these sizes.
Cut in_pieces(const OperatorGraph& graph, const Order& order,
              const std::vector<std::int32_t>& sizes) {
  Cut cut;
  cut.frame_of.resize(order.size());
  std::size_t at = 0;
  for (const std::int32_t size : sizes) {
    for (std::int32_t i = 0; i < size; ++i) cut.frame_of[order[at++]] = cut.frames;
    ++cut.frames;
  }
  cut.expected_breakers = expected_breakers(graph, cut.frame_of);
  return cut;
}

/// So many operators in as few equal pieces as the largest size allows.
void add_pieces(std::vector<std::int32_t>& sizes, std::int32_t operators, std::int32_t largest) {
  const std::int32_t pieces = (operators + largest - 1) / largest;
  for (std::int32_t i = 0; i < pieces; ++i)
    sizes.push_back(operators * (i + 1) / pieces - operators * i / pieces);
}

/// Joins groups until they have `enough` operators, cuts what is too large.
std::vector<std::int32_t> frame_sizes(const std::vector<std::int32_t>& groups, Limits limits,
                                      bool as_many_as_fit) {
  std::vector<std::int32_t> sizes;
  std::int32_t open = 0;
  for (const std::int32_t group : groups) {
    if (open >= limits.min_size && (!as_many_as_fit || open + group > limits.max_size)) {
      add_pieces(sizes, open, limits.max_size);
      open = 0;
    }
    open += group;
  }
  if (open < limits.min_size && !sizes.empty()) {
    open += sizes.back();
    sizes.pop_back();
  }
  add_pieces(sizes, open, limits.max_size);
  return sizes;
}

}  // namespace

Cut cut_by_number(const OperatorGraph& graph, Limits limits) {
  std::vector<std::int32_t> sizes;
  add_pieces(sizes, graph.size(), limits.max_size);
  return in_pieces(graph, by_number(graph), sizes);
}

Cut cut_by_outer_index(const OperatorGraph& graph, const std::vector<std::int32_t>& outer_index,
                       Limits limits) {
  // An operator that is read only with a later index cannot come later than its readers.
  Order order = by_number(graph);
  std::vector<std::int32_t> index = outer_index;
  for (const std::int32_t op : order)
    for (const Link& link : graph.producers(op)) index[op] = std::max(index[op], index[link.other]);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return index[a] < index[b]; });
  std::vector<std::int32_t> groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || index[order[i]] != index[order[i - 1]]) groups.push_back(0);
    ++groups.back();
  }
  Cut eager = in_pieces(graph, order, frame_sizes(groups, limits, false));
  Cut full = in_pieces(graph, order, frame_sizes(groups, limits, true));
  return eager.expected_breakers <= full.expected_breakers ? eager : full;
}

}  // namespace tessera
