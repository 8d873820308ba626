#include "optimizer/frames/split.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"

namespace tessera::frames {

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

/// For the places at which the last piece can start: what is kept together if it starts there, i.e.
/// the best of the pieces before plus all edges inside of the last one. A tree of maxima over sums:
/// an edge from place p to the end of the last piece counts for all starts up to p, so it is added
/// once, at p, and a start's total is its own number plus all that was added from it on.
class Starts {
 public:
  /// At most `live` neighbouring places are in use at a time.
  explicit Starts(std::int32_t live)
      : places_(static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(2 * live + 2)))),
        nodes_(2 * static_cast<std::size_t>(places_)) {}

  /// Places from `first` on are used from now on, none before it ever again.
  void forget_before(std::int32_t first, std::int32_t end) {
    if (end - offset_ < places_) return;
    const std::int32_t live = end - first;
    for (std::int32_t i = 0; i < places_; ++i)
      nodes_[places_ + i] = i < live ? nodes_[places_ + first - offset_ + i] : Node{};
    for (std::int32_t i = places_ - 1; i > 0; --i) nodes_[i] = joined(i);
    offset_ = first;
  }
  void open(std::int32_t place, double kept) {
    Node& leaf = nodes_[places_ + place - offset_];
    leaf.best = kept + leaf.sum;
    update(place);
  }
  void close(std::int32_t place) {
    nodes_[places_ + place - offset_].best = never;
    update(place);
  }
  void add(std::int32_t place, double probability) {
    Node& leaf = nodes_[places_ + place - offset_];
    leaf.sum += probability;
    leaf.best += probability;
    update(place);
  }
  double best() const { return nodes_[1].best; }
  /// Of equal ones the first: larger frames leave more to optimize inside of them.
  std::int32_t best_place() const {
    std::int32_t i = 1;
    while (i < places_) {
      const Node& right = nodes_[2 * i + 1];
      i = 2 * i + (right.best > nodes_[2 * i].best + right.sum ? 1 : 0);
    }
    return i - places_ + offset_;
  }

 private:
  struct Node {
    double sum = 0;
    double best = never;
  };
  Node joined(std::int32_t i) const {
    const Node& left = nodes_[2 * i];
    const Node& right = nodes_[2 * i + 1];
    return {left.sum + right.sum, std::max(right.best, left.best + right.sum)};
  }
  void update(std::int32_t place) {
    for (std::int32_t i = (places_ + place - offset_) / 2; i > 0; i /= 2) nodes_[i] = joined(i);
  }

  std::int32_t places_;
  std::int32_t offset_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<Cut> split(const OperatorGraph& graph, const Order& order, Limits limits) {
  const std::int32_t n = graph.size();
  std::vector<std::int32_t> position(order.size());
  for (std::int32_t i = 0; i < n; ++i) position[order[i]] = i;

  // The piece that ends before place `end` may start at places first to eligible - 1.
  std::vector<double> kept(static_cast<std::size_t>(n) + 1, never);
  std::vector<std::int32_t> start(static_cast<std::size_t>(n) + 1, -1);
  Starts starts(std::min(n, limits.max_size) + 1);
  std::int32_t first = 0;
  std::int32_t eligible = 0;
  std::int64_t from_first = 0;     // the weight between first and end
  std::int64_t from_eligible = 0;  // the weight between eligible and end
  kept[0] = 0;
  for (std::int32_t end = 1; end <= n; ++end) {
    const std::int32_t op = order[end - 1];
    starts.forget_before(first, end);
    from_first += graph.weight(op);
    from_eligible += graph.weight(op);
    for (const Link& link : graph.producers(op)) {
      TESSERA_INVARIANT(position[link.other] < end - 1, "operator {} stands before its producer {}",
                        op, link.other);
      if (position[link.other] >= first) starts.add(position[link.other], link.probability);
    }
    for (; eligible < end && from_eligible >= limits.min_size; ++eligible) {
      if (eligible >= first && kept[eligible] != never) starts.open(eligible, kept[eligible]);
      from_eligible -= graph.weight(order[eligible]);
    }
    for (; from_first > limits.max_size; ++first) {
      if (first < eligible) starts.close(first);
      from_first -= graph.weight(order[first]);
    }
    if (starts.best() == never) continue;
    kept[end] = starts.best();
    start[end] = starts.best_place();
  }
  if (kept[n] == never) return std::nullopt;

  Cut cut;
  cut.frame_of.resize(order.size());
  for (std::int32_t end = n; end > 0; end = start[end]) {
    for (std::int32_t i = start[end]; i < end; ++i) cut.frame_of[order[i]] = cut.frames;
    ++cut.frames;
  }
  for (std::int32_t& frame : cut.frame_of) frame = cut.frames - 1 - frame;
  cut.expected_breakers = expected_breakers(graph, cut.frame_of);
  return cut;
}

}  // namespace tessera::frames
