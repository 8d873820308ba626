#include "support/exact_cut.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tessera {

using namespace frames;

namespace {

using Set = std::uint64_t;

/// A cut is a chain of sets that are closed under producers: what is done after each frame. The
/// breakers of such a prefix are the edges that leave its frames, those to operators that are still
/// to come included: they are in a later frame, whatever it is. So they depend on the set and on
/// how it was reached alone, only the cheapest way to each set is of interest, and no way becomes
/// cheaper by going on.
class ExhaustiveCut {
 public:
  ExhaustiveCut(const OperatorGraph& graph, Limits limits, double known, std::int64_t steps)
      : graph_(graph),
        n_(graph.size()),
        limits_(limits),
        known_(known),
        steps_(steps),
        producers_(static_cast<std::size_t>(n_), 0),
        leaving_(static_cast<std::size_t>(n_), 0),
        cheapest_(static_cast<std::size_t>(n_) + 1) {
    limits_.min_size = least_size(n_, limits);
    for (std::int32_t op = 0; op < n_; ++op) {
      for (const Link& link : graph.producers(op)) producers_[op] |= Set{1} << link.other;
      for (const Link& link : graph.consumers(op)) leaving_[op] += link.probability;
    }
  }

  std::optional<double> run() {
    cheapest_[0][0] = 0;
    for (std::int32_t size = 0; size < n_; ++size)
      for (const auto& [done, breakers] : cheapest_[size]) {
        done_ = done;
        extend(0, 0, 0, breakers);
        if (steps_ < 0) return std::nullopt;
      }
    return cheapest_[n_].empty() ? known_ : std::min(known_, cheapest_[n_].begin()->second);
  }

 private:
  /// All frames that can come after done_, those that have `frame` and none of `never`.
  void extend(Set frame, std::int32_t size, Set never, double breakers) {
    if (--steps_ < 0) return;
    if (size >= limits_.min_size) close(frame, size, breakers);
    if (size == limits_.max_size) return;
    const Set there = done_ | frame;
    for (std::int32_t op = 0; op < n_; ++op) {
      const Set it = Set{1} << op;
      if (((there | never) & it) != 0 || (producers_[op] & ~there) != 0) continue;
      double kept = 0;
      for (const Link& link : graph_.producers(op))
        if ((frame >> link.other & 1) != 0) kept += link.probability;
      extend(frame | it, size + 1, never, breakers + leaving_[op] - kept);
      never |= it;
    }
  }

  void close(Set frame, std::int32_t size, double breakers) {
    if (breakers >= known_ - 1e-7) return;
    const std::int32_t done = std::popcount(done_) + size;
    const std::int32_t rest = n_ - done;
    const std::int32_t frames = (rest + limits_.max_size - 1) / limits_.max_size;
    if (frames * limits_.min_size > rest) return;
    const auto [found, fresh] = cheapest_[done].try_emplace(done_ | frame, breakers);
    if (!fresh) found->second = std::min(found->second, breakers);
  }

  const OperatorGraph& graph_;
  const std::int32_t n_;
  Limits limits_;
  const double known_;
  std::int64_t steps_;
  std::vector<Set> producers_;
  std::vector<double> leaving_;
  std::vector<std::unordered_map<Set, double>> cheapest_;  // by size
  Set done_ = 0;
};

}  // namespace

std::optional<double> least_breakers(const OperatorGraph& graph, Limits limits, double known,
                                     std::int64_t steps) {
  return ExhaustiveCut(graph, limits, known, steps).run();
}

}  // namespace tessera
