#include "optimizer/frames/refine.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace tessera::frames {

namespace {

/// Gains are sums of probabilities in single precision: what is smaller than this is rounding.
constexpr double nothing = 1e-5;

struct Move {
  double gain = -std::numeric_limits<double>::infinity();
  std::int32_t op = -1;
  std::int32_t to = -1;
  bool operator<(const Move& other) const {
    return gain != other.gain ? gain < other.gain : op > other.op;
  }
};

class Refinement {
 public:
  Refinement(const OperatorGraph& graph, Cut& cut, Limits limits, std::int32_t slack)
      : graph_(graph),
        frame_of_(cut.frame_of),
        limits_(limits),
        slack_(slack),
        size_(static_cast<std::size_t>(cut.frames), 0),
        moved_(cut.frame_of.size()) {
    for (std::int32_t op = 0; op < graph.size(); ++op) size_[frame_of_[op]] += graph.weight(op);
  }

  /// One pass; what it gained.
  double pass() {
    std::fill(moved_.begin(), moved_.end(), char{0});
    moves_ = {};
    for (std::int32_t op = 0; op < graph_.size(); ++op) offer(op);
    const std::int32_t patience = 25 + std::min(graph_.size() / 16, 500);
    std::vector<Move> made;          // `to` is where the operator came from
    std::ptrdiff_t best_length = 0;  // of moves, up to the best state
    double gain = 0;
    double best = 0;
    while (!moves_.empty() && std::ssize(made) - best_length < patience) {
      const Move move = moves_.top();
      moves_.pop();
      if (moved_[move.op]) continue;
      const Move now = best_move(move.op);
      if (now.gain != move.gain || now.to != move.to) {
        if (now.op >= 0) moves_.push(now);
        continue;
      }
      made.push_back({move.gain, move.op, frame_of_[move.op]});
      shift(move.op, move.to);
      moved_[move.op] = 1;
      gain += move.gain;
      if (outside_ == 0 && gain > best + nothing) {
        best = gain;
        best_length = std::ssize(made);
      }
      for (const Link& link : graph_.producers(move.op)) offer_again(link.other);
      for (const Link& link : graph_.consumers(move.op)) offer_again(link.other);
    }
    for (; std::ssize(made) > best_length; made.pop_back()) shift(made.back().op, made.back().to);
    return best;
  }

 private:
  /// The best of an operator's moves. Of the frames in reach only the last one of its producers and
  /// the first one of its consumers have anything to do with it; to the neighbouring ones it goes
  /// to make room for others.
  Move best_move(std::int32_t op) const {
    const std::int32_t here = frame_of_[op];
    std::int32_t last = -1;
    double to_last = 0;
    for (const Link& link : graph_.producers(op)) {
      const std::int32_t frame = frame_of_[link.other];
      if (frame > last) {
        last = frame;
        to_last = 0;
      }
      if (frame == last) to_last += link.probability;
    }
    std::int32_t first = std::numeric_limits<std::int32_t>::max();
    double to_first = 0;
    for (const Link& link : graph_.consumers(op)) {
      const std::int32_t frame = frame_of_[link.other];
      if (frame < first) {
        first = frame;
        to_first = 0;
      }
      if (frame == first) to_first += link.probability;
    }
    Move best;
    const auto consider = [&](std::int32_t to, double gain) {
      if (gain > best.gain && fits(op, to)) best = {gain, op, to};
    };
    const double kept_below = last == here ? to_last : 0;
    const double kept_above = first == here ? to_first : 0;
    if (last < here) {
      if (last >= 0) consider(last, to_last - kept_above);
      if (here > 0 && here - 1 > last) consider(here - 1, -kept_above);
    }
    if (first > here) {
      if (first < std::ssize(size_)) consider(first, to_first - kept_below);
      if (here + 1 < std::min<std::int64_t>(first, std::ssize(size_)))
        consider(here + 1, -kept_below);
    }
    return best;
  }

  void offer(std::int32_t op) {
    if (moved_[op]) return;
    const Move move = best_move(op);
    if (move.op >= 0) moves_.push(move);
  }

  /// After a neighbour has moved. Operators with very many of them would take quadratic time, and
  /// one neighbour changes little for them.
  void offer_again(std::int32_t op) {
    constexpr std::size_t many = 64;
    if (graph_.producers(op).size() + graph_.consumers(op).size() <= many) offer(op);
  }

  bool fits(std::int32_t op, std::int32_t to) const {
    const std::int32_t weight = graph_.weight(op);
    return size_[to] + weight <= limits_.max_size + slack_ &&
           size_[frame_of_[op]] - weight >= limits_.min_size - slack_;
  }

  bool is_outside(std::int32_t frame) const {
    return size_[frame] < limits_.min_size || size_[frame] > limits_.max_size;
  }

  void shift(std::int32_t op, std::int32_t to) {
    const std::int32_t from = frame_of_[op];
    outside_ -= is_outside(from) + is_outside(to);
    size_[from] -= graph_.weight(op);
    size_[to] += graph_.weight(op);
    outside_ += is_outside(from) + is_outside(to);
    frame_of_[op] = to;
  }

  const OperatorGraph& graph_;
  std::vector<std::int32_t>& frame_of_;
  const Limits limits_;
  const std::int32_t slack_;
  std::vector<std::int32_t> size_;  // by frame
  std::int32_t outside_ = 0;        // frames that are out of limits
  std::vector<char> moved_;
  std::priority_queue<Move> moves_;
};

}  // namespace

double refine(const OperatorGraph& graph, Cut& cut, Limits limits, std::int32_t slack) {
  Refinement refinement(graph, cut, limits, slack);
  double gained = 0;
  for (int passes = 0; passes < 8; ++passes) {
    const double gain = refinement.pass();
    gained += gain;
    if (gain <= nothing) break;
  }
  if (gained > 0) cut.expected_breakers = expected_breakers(graph, cut.frame_of);
  return gained;
}

}  // namespace tessera::frames
