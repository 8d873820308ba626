#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::frames {

/// The output of an operator that another one reads. `probability`: that it would be pipelined into
/// its reader if the whole plan were optimized as one (E[N_ij] of the paper).
struct Edge {
  std::int32_t from = 0;
  std::int32_t to = 0;
  float probability = 0;
};

/// The other end of an edge, seen from one of its ends.
struct Link {
  std::int32_t other = 0;
  float probability = 0;
};

/// Operators 0 to size() - 1 and who reads whom, without cycles. An operator costs 8 bytes and an
/// edge 16, because plans have hundreds of thousands of them.
///
/// An operator may stand for several ones of a larger graph (coarsen.h): that is its weight.
class OperatorGraph {
 public:
  OperatorGraph() : OperatorGraph(0, {}) {}
  /// Several edges between the same two operators become one, whose number is their sum: of an
  /// operator that reads another one twice, the caller names the edge once. A PlanError if an edge
  /// names no operator, if a probability is negative or no number, or if there is a cycle.
  OperatorGraph(std::int32_t operators, std::vector<Edge> edges,
                std::vector<std::int32_t> weights = {});

  std::int32_t size() const { return static_cast<std::int32_t>(consumer_begin_.size()) - 1; }
  std::int64_t edges() const { return static_cast<std::int64_t>(consumers_.size()); }
  std::span<const Link> consumers(std::int32_t op) const {
    return {consumers_.data() + consumer_begin_[op], consumers_.data() + consumer_begin_[op + 1]};
  }
  std::span<const Link> producers(std::int32_t op) const {
    return {producers_.data() + producer_begin_[op], producers_.data() + producer_begin_[op + 1]};
  }
  std::int32_t weight(std::int32_t op) const { return weights_.empty() ? 1 : weights_[op]; }
  /// How many operators of the plan this graph stands for.
  std::int64_t total_weight() const { return total_weight_; }

  /// What the graph holds in memory.
  std::int64_t bytes() const;

 private:
  void check_edges(const std::vector<Edge>& edges) const;
  void check_acyclic() const;

  std::vector<std::int32_t> consumer_begin_;
  std::vector<std::int32_t> producer_begin_;
  std::vector<Link> consumers_;
  std::vector<Link> producers_;
  std::vector<std::int32_t> weights_;
  std::int64_t total_weight_ = 0;
};

}  // namespace tessera::frames
