#include "optimizer/frames/orders.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace tessera::frames {

namespace {

std::vector<std::int32_t> producer_counts(const OperatorGraph& graph) {
  std::vector<std::int32_t> counts(static_cast<std::size_t>(graph.size()));
  for (std::int32_t op = 0; op < graph.size(); ++op)
    counts[op] = static_cast<std::int32_t>(graph.producers(op).size());
  return counts;
}

}  // namespace

Order by_rank(const OperatorGraph& graph, const std::vector<std::int32_t>& rank) {
  std::vector<std::int32_t> missing = producer_counts(graph);
  using Ranked = std::pair<std::int32_t, std::int32_t>;
  std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>> ready;
  for (std::int32_t op = 0; op < graph.size(); ++op)
    if (missing[op] == 0) ready.emplace(rank[op], op);
  Order order;
  order.reserve(static_cast<std::size_t>(graph.size()));
  while (!ready.empty()) {
    const std::int32_t op = ready.top().second;
    ready.pop();
    order.push_back(op);
    for (const Link& link : graph.consumers(op))
      if (--missing[link.other] == 0) ready.emplace(rank[link.other], link.other);
  }
  return order;
}

Order by_number(const OperatorGraph& graph) {
  std::vector<std::int32_t> rank(static_cast<std::size_t>(graph.size()));
  std::iota(rank.begin(), rank.end(), 0);
  return by_rank(graph, rank);
}

Order shuffled(const OperatorGraph& graph, Noise& noise) {
  std::vector<std::int32_t> rank(static_cast<std::size_t>(graph.size()));
  for (std::int32_t& r : rank) r = noise.below(1 << 30);
  return by_rank(graph, rank);
}

Order depth_first(const OperatorGraph& graph, From from, float disorder, Noise& noise) {
  const std::int32_t n = graph.size();
  const auto before = [&](std::int32_t op) {
    return from == From::results ? graph.producers(op) : graph.consumers(op);
  };
  const auto after = [&](std::int32_t op) {
    return from == From::results ? graph.consumers(op) : graph.producers(op);
  };
  std::vector<std::int32_t> roots;
  for (std::int32_t op = 0; op < n; ++op)
    if (after(op).empty()) roots.push_back(op);
  for (std::size_t i = roots.size(); i > 1; --i)
    if (noise.fraction() < disorder)
      std::swap(roots[i - 1],
                roots[static_cast<std::size_t>(noise.below(static_cast<std::int32_t>(i)))]);
  Order order;
  order.reserve(static_cast<std::size_t>(n));
  // The stack holds operators to enter, and, as their complements, those to leave: an operator is
  // put into the order when everything before it has been.
  std::vector<char> entered(static_cast<std::size_t>(n), 0);
  std::vector<std::int32_t> stack;
  std::vector<std::pair<float, std::int32_t>> next;
  for (const std::int32_t root : roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const std::int32_t op = stack.back();
      stack.pop_back();
      if (op < 0) {
        order.push_back(~op);
        continue;
      }
      if (entered[op]) continue;
      entered[op] = 1;
      stack.push_back(~op);
      next.clear();
      for (const Link& link : before(op))
        if (!entered[link.other])
          next.emplace_back(link.probability * (1 - disorder) + disorder * noise.fraction(),
                            link.other);
      if (next.size() > 1) std::sort(next.begin(), next.end(), std::greater<>());
      // The likeliest lies deepest in the stack: it is entered last, and stands next to its reader.
      for (const auto& [likely, other] : next) stack.push_back(other);
    }
  }
  if (from == From::inputs) std::reverse(order.begin(), order.end());
  return order;
}

Order in_frames(const Cut& cut, const Order& inner) {
  std::vector<std::int32_t> at(static_cast<std::size_t>(cut.frames) + 1, 0);
  for (const std::int32_t frame : cut.frame_of) ++at[frame + 1];
  for (std::size_t f = 1; f < at.size(); ++f) at[f] += at[f - 1];
  Order order(inner.size());
  for (const std::int32_t op : inner) order[at[cut.frame_of[op]]++] = op;
  return order;
}

}  // namespace tessera::frames
