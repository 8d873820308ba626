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
/// once, at p, and a start's total is its own number plus all that was added from it on. What
/// counts for all starts alike, as most edges do, is only added to a number beside the tree.
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
    nodes_[places_ + place - offset_].best = kept - for_all_;
    update(place);
  }
  void close(std::int32_t place) {
    nodes_[places_ + place - offset_].best = never;
    update(place);
  }
  /// Adds to all starts up to this place.
  void add(std::int32_t place, double probability) {
    Node& leaf = nodes_[places_ + place - offset_];
    leaf.sum += probability;
    leaf.best += probability;
    update(place);
  }
  void add_to_all(double probability) { for_all_ += probability; }
  double best() const { return nodes_[1].best + for_all_; }

 private:
  struct Node {
    double sum = 0;
    double best = never;
    bool operator==(const Node&) const = default;
  };
  Node joined(std::int32_t i) const {
    const Node& left = nodes_[2 * i];
    const Node& right = nodes_[2 * i + 1];
    return {left.sum + right.sum, std::max(right.best, left.best + right.sum)};
  }
  void update(std::int32_t place) {
    for (std::int32_t i = (places_ + place - offset_) / 2; i > 0; i /= 2) {
      const Node node = joined(i);
      if (node == nodes_[i]) return;
      nodes_[i] = node;
    }
  }

  std::int32_t places_;
  std::int32_t offset_ = 0;
  double for_all_ = 0;
  std::vector<Node> nodes_;
};

/// Where the piece before place `end` starts in the best split up to there: found once more, by
/// going backwards over it, which is less than to remember it for every place. Of equal ones the
/// first, because larger frames leave more to optimize inside of them.
std::int32_t best_start(const OperatorGraph& graph, const Order& order,
                        const std::vector<std::int32_t>& position, const std::vector<double>& kept,
                        std::int32_t end, Limits limits) {
  std::int32_t best = -1;
  double most = never;
  double inside = 0;
  std::int64_t weight = 0;
  for (std::int32_t i = end - 1; i >= 0; --i) {
    weight += graph.weight(order[i]);
    if (weight > limits.max_size) break;
    for (const Link& link : graph.consumers(order[i]))
      if (position[link.other] < end) inside += link.probability;
    if (weight < limits.min_size || kept[i] == never || kept[i] + inside < most) continue;
    most = kept[i] + inside;
    best = i;
  }
  TESSERA_INVARIANT(best >= 0, "no piece of {} to {} operators ends at place {}", limits.min_size,
                    limits.max_size, end);
  return best;
}

}  // namespace

std::optional<Cut> split(const OperatorGraph& graph, const Order& order, Limits limits) {
  const std::int32_t n = graph.size();
  std::vector<std::int32_t> position(order.size());
  for (std::int32_t i = 0; i < n; ++i) position[order[i]] = i;

  // The piece that ends before place `end` may start at places first to eligible - 1.
  std::vector<double> kept(static_cast<std::size_t>(n) + 1, never);
  Starts starts(std::min(n, limits.max_size) + 1);
  std::int32_t first = 0;
  std::int32_t eligible = 0;
  std::int64_t from_first = 0;     // the weight between first and end
  std::int64_t from_eligible = 0;  // the weight between eligible and end
  // Edges from places at which no piece may start yet: each counts for all starts that there are.
  std::vector<double> waiting(order.size(), 0);
  double all_waiting = 0;
  kept[0] = 0;
  for (std::int32_t end = 1; end <= n; ++end) {
    const std::int32_t op = order[end - 1];
    starts.forget_before(first, end);
    from_first += graph.weight(op);
    from_eligible += graph.weight(op);
    for (const Link& link : graph.producers(op)) {
      TESSERA_INVARIANT(position[link.other] < end - 1, "operator {} stands before its producer {}",
                        op, link.other);
      if (position[link.other] >= eligible) {
        starts.add_to_all(link.probability);
        waiting[position[link.other]] += link.probability;
        all_waiting += link.probability;
      } else if (position[link.other] >= first) {
        starts.add(position[link.other], link.probability);
      }
    }
    for (; eligible < end && from_eligible >= limits.min_size; ++eligible) {
      if (eligible >= first && kept[eligible] != never)
        starts.open(eligible, kept[eligible] + all_waiting);
      all_waiting -= waiting[eligible];
      from_eligible -= graph.weight(order[eligible]);
    }
    for (; from_first > limits.max_size; ++first) {
      if (first < eligible) starts.close(first);
      from_first -= graph.weight(order[first]);
    }
    kept[end] = starts.best();
  }
  if (kept[n] == never) return std::nullopt;

  Cut cut;
  cut.frame_of.resize(order.size());
  for (std::int32_t end = n; end > 0;) {
    const std::int32_t start = best_start(graph, order, position, kept, end, limits);
    for (std::int32_t i = start; i < end; ++i) cut.frame_of[order[i]] = cut.frames;
    ++cut.frames;
    end = start;
  }
  for (std::int32_t& frame : cut.frame_of) frame = cut.frames - 1 - frame;
  cut.expected_breakers = expected_breakers(graph, cut.frame_of);
  return cut;
}

}  // namespace tessera::frames
