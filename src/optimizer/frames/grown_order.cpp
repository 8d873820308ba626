#include <algorithm>
#include <queue>

#include "optimizer/frames/orders.h"

namespace tessera::frames {

namespace {

/// Operators with more edges than this do not pull others that share them: it would take quadratic
/// time, and says little.
constexpr std::size_t many_edges = 12;

class Growth {
 public:
  Growth(const OperatorGraph& graph, std::int32_t group, float disorder, Noise& noise)
      : graph_(graph),
        group_(group),
        base_(depth_first(graph, From::results, disorder, noise)),
        position_(base_.size()),
        missing_(base_.size()),
        pull_(base_.size()),
        pulled_in_(base_.size(), -1),
        placed_(base_.size(), 0),
        disorder_(disorder),
        noise_(noise) {
    for (std::int32_t i = 0; i < graph.size(); ++i) position_[base_[i]] = i;
    for (std::int32_t op = 0; op < graph.size(); ++op)
      missing_[op] = static_cast<std::int32_t>(graph.producers(op).size());
  }

  Order run() {
    Order order;
    order.reserve(base_.size());
    std::int32_t size = 0;
    while (std::ssize(order) < graph_.size()) {
      std::int32_t op = take_pulled();
      if (op < 0) op = take_seed();
      if (size + graph_.weight(op) > group_) {
        size = 0;
        ++group_number_;
        pulled_ = {};
      }
      size += graph_.weight(op);
      place(op);
      order.push_back(op);
    }
    return order;
  }

 private:
  struct Pulled {
    float pull;
    std::int32_t position;  // of equal ones the first
    std::int32_t op;
    bool operator<(const Pulled& other) const {
      return pull != other.pull ? pull < other.pull : position > other.position;
    }
  };

  std::int32_t take_pulled() {
    while (!pulled_.empty()) {
      const Pulled top = pulled_.top();
      pulled_.pop();
      if (!placed_[top.op] && top.pull == pull_[top.op]) return top.op;
    }
    return -1;
  }

  /// The first operator that can come next: a new group starts where the base order goes on.
  std::int32_t take_seed() {
    while (placed_[base_[seed_]]) ++seed_;
    return base_[seed_];
  }

  void pull(std::int32_t op, float strength) {
    if (pulled_in_[op] != group_number_) {
      pulled_in_[op] = group_number_;
      pull_[op] = disorder_ * 0.2F * noise_.fraction();
    }
    pull_[op] += strength;
    if (missing_[op] == 0) pulled_.push({pull_[op], position_[op], op});
  }

  void place(std::int32_t op) {
    placed_[op] = 1;
    for (const Link& link : graph_.consumers(op)) {
      --missing_[link.other];
      pull(link.other, link.probability);
    }
    if (graph_.consumers(op).size() > many_edges) return;
    for (const Link& link : graph_.consumers(op)) {
      const auto sharing = graph_.producers(link.other);
      if (sharing.size() > many_edges) continue;
      for (const Link& fellow : sharing)
        if (!placed_[fellow.other])
          pull(fellow.other, 0.5F * std::min(link.probability, fellow.probability));
    }
  }

  const OperatorGraph& graph_;
  const std::int32_t group_;
  const Order base_;
  std::vector<std::int32_t> position_;  // in base_
  std::vector<std::int32_t> missing_;   // producers that have no place yet
  std::vector<float> pull_;             // towards the group numbered pulled_in_
  std::vector<std::int32_t> pulled_in_;
  std::vector<char> placed_;
  std::priority_queue<Pulled> pulled_;
  std::int32_t group_number_ = 0;
  std::int32_t seed_ = 0;
  const float disorder_;
  Noise& noise_;
};

}  // namespace

Order grown(const OperatorGraph& graph, std::int32_t group, float disorder, Noise& noise) {
  return Growth(graph, group, disorder, noise).run();
}

}  // namespace tessera::frames
