#include "optimizer/frames/coarsen.h"

#include <algorithm>

#include "optimizer/frames/orders.h"

namespace tessera::frames {

namespace {

/// Pairs producers with consumers so that joining all pairs leaves no cycle.
///
/// A pair (u, v) in which u is v's only producer, or v is u's only consumer, never makes one: no
/// other path leads from u to v, whatever else is joined. For the others let an operator's level be
/// the length of the longest path to it, and pair only u with a v one level above. A cycle through
/// joined operators gains at least a level with each edge and loses at most one inside each pair,
/// by entering it at v and leaving it at u: so it consists of pairs of the same two levels, with
/// edges from the u of each to the v of the next. No such cycle exists if these edges always lead
/// to a pair whose u is later in some order. As pairs are made in that order, it suffices that a
/// new u has no edge to the v of an older pair of its level.
class Pairing {
 public:
  Pairing(const OperatorGraph& graph, std::int32_t max_weight, Noise& noise)
      : graph_(graph),
        max_weight_(max_weight),
        noise_(noise),
        order_(depth_first(graph, noise.below(2) == 0 ? From::results : From::inputs, 0.5F, noise)),
        last_producer_(order_.size(), -1),
        level_(order_.size(), 0),
        likeliest_(order_.size(), 0),
        choosiness_(noise.fraction()),
        partner_(order_.size(), -1),
        upper_(order_.size(), 0) {
    for (std::int32_t i = 0; i < graph.size(); ++i) {
      for (const Link& link : graph.producers(order_[i]))
        level_[order_[i]] = std::max(level_[order_[i]], level_[link.other] + 1);
      for (const Link& link : graph.consumers(order_[i])) last_producer_[link.other] = order_[i];
    }
    for (std::int32_t op = 0; op < graph.size(); ++op)
      for (const auto links : {graph.producers(op), graph.consumers(op)})
        for (const Link& link : links) likeliest_[op] = std::max(likeliest_[op], link.probability);
  }

  /// By operator: who it is paired with, or -1.
  std::vector<std::int32_t> run() {
    for (const std::int32_t op : order_)
      if (partner_[op] < 0) pair(op);
    return std::move(partner_);
  }

 private:
  void pair(std::int32_t op) {
    const bool barred = enters_older_pair(op);
    const bool only_consumer = graph_.consumers(op).size() == 1;
    std::int32_t chosen = -1;
    float best = -1;
    for (const Link& link : graph_.consumers(op)) {
      const std::int32_t other = link.other;
      if (partner_[other] >= 0 || graph_.weight(op) + graph_.weight(other) > max_weight_) continue;
      const bool always = only_consumer || graph_.producers(other).size() == 1;
      if (!always && (barred || level_[other] != level_[op] + 1)) continue;
      if (link.probability < choosiness_ * std::max(likeliest_[op], likeliest_[other])) continue;
      // If op is the last producer, later operators of its level are not barred by this pair.
      const float worth =
          link.probability * (last_producer_[other] == op ? 2 : 1) * (0.75F + noise_.fraction());
      if (worth <= best) continue;
      best = worth;
      chosen = other;
    }
    if (chosen < 0) return;
    partner_[op] = chosen;
    partner_[chosen] = op;
    upper_[chosen] = 1;
  }

  bool enters_older_pair(std::int32_t op) const {
    for (const Link& link : graph_.consumers(op))
      if (upper_[link.other] && level_[link.other] == level_[op] + 1 &&
          level_[partner_[link.other]] == level_[op])
        return true;
    return false;
  }

  const OperatorGraph& graph_;
  const std::int32_t max_weight_;
  Noise& noise_;
  const Order order_;
  std::vector<std::int32_t> last_producer_;  // in the order
  std::vector<std::int32_t> level_;
  std::vector<float> likeliest_;  // of an operator's edges
  const float choosiness_;        // an edge must be so likely, next to the likeliest at its ends
  std::vector<std::int32_t> partner_;
  std::vector<char> upper_;  // the consumer of its pair
};

}  // namespace

Coarse coarsen(const OperatorGraph& graph, std::int32_t max_weight, Noise& noise) {
  const std::vector<std::int32_t> partner = Pairing(graph, max_weight, noise).run();
  Coarse coarse;
  coarse.coarse_of.assign(partner.size(), -1);
  std::vector<std::int32_t> weights;
  std::vector<Edge> edges;
  for (std::int32_t op = 0; op < graph.size(); ++op) {
    if (coarse.coarse_of[op] >= 0) continue;
    coarse.coarse_of[op] = static_cast<std::int32_t>(weights.size());
    weights.push_back(graph.weight(op));
    if (partner[op] < 0) continue;
    coarse.coarse_of[partner[op]] = coarse.coarse_of[op];
    weights.back() += graph.weight(partner[op]);
  }
  edges.reserve(static_cast<std::size_t>(graph.edges()));
  for (std::int32_t op = 0; op < graph.size(); ++op)
    for (const Link& link : graph.consumers(op))
      if (coarse.coarse_of[op] != coarse.coarse_of[link.other])
        edges.push_back({coarse.coarse_of[op], coarse.coarse_of[link.other], link.probability});
  const auto operators = static_cast<std::int32_t>(weights.size());
  coarse.graph = OperatorGraph(operators, std::move(edges), std::move(weights));
  return coarse;
}

Cut project(const Cut& cut, const Coarse& coarse) {
  Cut finer;
  finer.frame_of.reserve(coarse.coarse_of.size());
  for (const std::int32_t op : coarse.coarse_of) finer.frame_of.push_back(cut.frame_of[op]);
  finer.frames = cut.frames;
  finer.expected_breakers = cut.expected_breakers;
  return finer;
}

}  // namespace tessera::frames
