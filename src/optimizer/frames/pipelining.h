#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/frames/graph.h"

namespace tessera::frames {

/// What an operator does, as far as pipelining is concerned.
enum class Kind : std::uint8_t { selection, aggregation, join, projection, union_all, other };
inline constexpr int kinds = 6;
std::string_view name(Kind kind);

/// How often, in past workloads, an output of one kind of operator was pipelined into a reader of
/// another kind. Plain counts: histories of several runs or processes are added up.
class History {
 public:
  struct Count {
    std::int64_t pipelined = 0;
    std::int64_t total = 0;
    bool operator==(const Count&) const = default;
  };

  void add(Kind producer, Kind consumer, bool pipelined);
  void merge(const History& other);
  const Count& count(Kind producer, Kind consumer) const { return counts_[at(producer, consumer)]; }

  /// The fraction of the time that it was pipelined. Where little is known it is drawn towards what
  /// can be told without a history (prior), as if that had been seen `prior_strength` times.
  double fraction(Kind producer, Kind consumer) const;
  static double prior(Kind producer, Kind consumer);
  static constexpr double prior_strength = 4;

  /// A line "producer consumer pipelined total" for each pair that was ever seen. What `to_text`
  /// wrote, `from_text` reads; anything else is a ParseError with its line.
  std::string to_text() const;
  static History from_text(std::string_view text);

  bool operator==(const History&) const = default;

 private:
  static std::size_t at(Kind producer, Kind consumer) {
    return static_cast<std::size_t>(producer) * kinds + static_cast<std::size_t>(consumer);
  }
  std::array<Count, kinds * kinds> counts_{};
};

/// An operator's output and its reader.
struct Use {
  std::int32_t from = 0;
  std::int32_t to = 0;
};

/// The graph of a plan's operators with the probabilities of section 4.5: an output has k readers,
/// of which it can be pipelined into one. p = 1/k if the reader is a selection or an aggregation,
/// which can always be pipelined into; otherwise f/k, with f the history's fraction for these
/// kinds. An operator that uses an output several times is one reader of it.
OperatorGraph operator_graph(const std::vector<Kind>& operators, std::vector<Use> uses,
                             const History& history);

}  // namespace tessera::frames
