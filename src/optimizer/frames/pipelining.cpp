#include "optimizer/frames/pipelining.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/check.h"

namespace tessera::frames {

namespace {

constexpr std::array<std::string_view, kinds> names = {"selection",  "aggregation", "join",
                                                       "projection", "union",       "other"};

bool always_pipelined_into(Kind kind) {
  return kind == Kind::selection || kind == Kind::aggregation;
}

/// The next word of a line, which is taken away from it.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

std::optional<Kind> kind_named(std::string_view word) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return static_cast<Kind>(found - names.begin());
}

std::optional<std::int64_t> count_in(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0) return std::nullopt;
  return value;
}

/// Counts stop at the largest number instead of wrapping around.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return a > most - b ? most : a + b;
}

}  // namespace

std::string_view name(Kind kind) { return names[static_cast<std::size_t>(kind)]; }

void History::add(Kind producer, Kind consumer, bool pipelined) {
  Count& count = counts_[at(producer, consumer)];
  count.total = sum(count.total, 1);
  if (pipelined) count.pipelined = sum(count.pipelined, 1);
}

void History::merge(const History& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i].pipelined = sum(counts_[i].pipelined, other.counts_[i].pipelined);
    counts_[i].total = sum(counts_[i].total, other.counts_[i].total);
  }
}

double History::fraction(Kind producer, Kind consumer) const {
  const Count& seen = count(producer, consumer);
  return (static_cast<double>(seen.pipelined) + prior_strength * prior(producer, consumer)) /
         (static_cast<double>(seen.total) + prior_strength);
}

/// A projection or a union passes on what it reads. A join reads one of its sides as it comes and
/// must have the other one first; what comes from an aggregation is small and tends to be that one.
double History::prior(Kind producer, Kind consumer) {
  switch (consumer) {
    case Kind::selection:
    case Kind::aggregation: return 1;
    case Kind::projection:
    case Kind::union_all: return 0.9;
    case Kind::join: return producer == Kind::aggregation ? 0.4 : 0.5;
    case Kind::other: return 0.5;
  }
  throw InternalError(fmt::format("there is no kind {} of operators", static_cast<int>(consumer)));
}

std::string History::to_text() const {
  std::string text;
  for (int a = 0; a < kinds; ++a)
    for (int b = 0; b < kinds; ++b) {
      const Count& seen = count(static_cast<Kind>(a), static_cast<Kind>(b));
      if (seen.total > 0)
        text += fmt::format("{} {} {} {}\n", names[static_cast<std::size_t>(a)],
                            names[static_cast<std::size_t>(b)], seen.pipelined, seen.total);
    }
  return text;
}

History History::from_text(std::string_view text) {
  History history;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::string_view rest = line;
    const auto producer = kind_named(next_word(rest));
    const auto consumer = kind_named(next_word(rest));
    const auto pipelined = count_in(next_word(rest));
    const auto total = count_in(next_word(rest));
    if (!producer || !consumer || !pipelined || !total || *pipelined > *total ||
        !next_word(rest).empty())
      throw ParseError(
          fmt::format("line {} of the workload history is invalid: \"{}\"; expected two kinds of "
                      "operators, how often the first was pipelined into the second, and how "
                      "often they met",
                      number, line),
          number, 1);
    Count& count = history.counts_[at(*producer, *consumer)];
    count = {sum(count.pipelined, *pipelined), sum(count.total, *total)};
  }
  return history;
}

OperatorGraph operator_graph(const std::vector<Kind>& operators, std::vector<Use> uses,
                             const History& history) {
  const auto before = [](const Use& a, const Use& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  };
  const auto same = [](const Use& a, const Use& b) { return a.from == b.from && a.to == b.to; };
  std::sort(uses.begin(), uses.end(), before);
  uses.erase(std::unique(uses.begin(), uses.end(), same), uses.end());
  std::vector<Edge> edges;
  edges.reserve(uses.size());
  for (std::size_t first = 0; first < uses.size();) {
    std::size_t last = first;
    while (last < uses.size() && uses[last].from == uses[first].from) ++last;
    const auto readers = static_cast<double>(last - first);
    for (; first < last; ++first) {
      const auto [from, to] = uses[first];
      TESSERA_REQUIRE(
          PlanError,
          from >= 0 && from < std::ssize(operators) && to >= 0 && to < std::ssize(operators),
          "operator {} reads operator {}, but the operators are 0 to {}", to, from,
          std::ssize(operators) - 1);
      const Kind reader = operators[to];
      const double alone =
          always_pipelined_into(reader) ? 1 : history.fraction(operators[from], reader);
      edges.push_back({from, to, static_cast<float>(alone / readers)});
    }
  }
  return {static_cast<std::int32_t>(operators.size()), std::move(edges)};
}

}  // namespace tessera::frames
