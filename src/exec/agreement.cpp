#include "exec/agreement.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_set>

#include "base/check.h"
#include "base/odometer.h"
#include "kernel/arguments.h"
#include "tile/tile_hash.h"
#include "tra/plan_node.h"
#include "tra/relation_hash.h"

namespace tessera::exec {
namespace {

constexpr std::int64_t most_tiles = 4;
constexpr double most_hashed = 1 << 20;  // of all tiles after the first

double bytes_of(const std::vector<TileType>& types) {
  double bytes = 0;
  for (const TileType& type : types) bytes += dense_bytes(type);
  return bytes;
}

/// The number of a tuple below `count`, the same whoever asks.
std::int64_t sampled(std::int64_t which, std::int64_t count) {
  const std::uint64_t spread = XXH3_64bits(&which, sizeof which);
  return static_cast<std::int64_t>(spread % static_cast<std::uint64_t>(count));
}

Key key_at(const op::Input& input, std::int64_t number) {
  if (input.listing) return input.listing->tuples[static_cast<std::size_t>(number)].key;
  return unraveled<Key>(static_cast<std::uint64_t>(number), input.type.frontier);
}

std::uint64_t sample_of(const op::Input& input) {
  const std::int64_t count = input.listing ? static_cast<std::int64_t>(input.listing->tuples.size())
                                           : count_below(input.type.frontier);
  if (count == 0 || input.facts.version != 0) return 0;
  std::vector<TileType> bound;
  for (const Column& column : input.type.columns) bound.push_back(column.type);
  const double each = std::max(1.0, bytes_of(bound));
  const auto tiles = std::clamp<std::int64_t>(static_cast<std::int64_t>(most_hashed / each), 1,
                                              std::min(count, most_tiles));
  std::uint64_t hash = 0;
  try {
    for (std::int64_t t = 0; t < tiles; ++t)
      for (const Tile& tile : input.source(key_at(input, sampled(t, count)))) {
        const std::uint64_t own = hash_of(tile);
        hash = XXH3_64bits_withSeed(&own, sizeof own, hash);
      }
  } catch (const std::exception&) {
    return 0;  // it is told where the tile is needed
  }
  return hash;
}

/// "rank 1", "ranks 0, 2 and 3"
std::string names(const std::vector<int>& ranks) {
  std::string list;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", list);
}

}  // namespace

std::vector<InputNote> note_inputs(const TaskGraph& graph) {
  std::vector<InputNote> notes;
  std::unordered_set<const op::Input*> seen;
  for (const ia::Plan& plan : ia::in_order(graph.plans)) {
    if (!std::holds_alternative<ia::Input>(ia::operator_of(plan))) continue;
    const auto& input = std::get<op::Input>(tessera::operator_of(plan.logical()));
    if (!seen.insert(&input).second) continue;
    InputNote note{input.name.empty() ? fmt::format("without a name ({})", to_string(input.type))
                                      : fmt::format("\"{}\"", input.name)};
    if (input.relation)
      note.contents = std::max<std::uint64_t>(1, hash_of(*input.relation));
    else if (input.source)
      note.contents = sample_of(input);
    notes.push_back(std::move(note));
  }
  return notes;
}

std::string to_text(const std::vector<InputNote>& notes) {
  std::string text;
  const auto add = [&](std::uint64_t number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (const InputNote& note : notes) {
    add(note.contents);
    add(note.name.size());
    text += note.name;
  }
  return text;
}

std::vector<InputNote> notes_of(const std::string& text) {
  std::vector<InputNote> notes;
  std::size_t at = 0;
  const auto next = [&] {
    std::uint64_t number = 0;
    TESSERA_INVARIANT(text.size() - at >= sizeof number, "a note of {} bytes", text.size());
    std::memcpy(&number, text.data() + at, sizeof number);
    at += sizeof number;
    return number;
  };
  while (at < text.size()) {
    InputNote note;
    note.contents = next();
    const std::uint64_t size = next();
    TESSERA_INVARIANT(size <= text.size() - at, "a name of {} bytes in {}", size, text.size());
    note.name = text.substr(at, size);
    at += size;
    notes.push_back(std::move(note));
  }
  return notes;
}

std::string disagreement(const std::vector<std::vector<InputNote>>& notes) {
  for (std::size_t i = 0; i < notes.front().size(); ++i) {
    std::map<std::uint64_t, std::vector<int>> by_contents;
    for (std::size_t rank = 0; rank < notes.size(); ++rank)
      if (i < notes[rank].size() && notes[rank][i].contents != 0)
        by_contents[notes[rank][i].contents].push_back(static_cast<int>(rank));
    if (by_contents.size() < 2) continue;
    // Those who are fewer are named first: most often it is they who are wrong.
    std::vector<std::vector<int>> groups;
    for (auto& [contents, ranks] : by_contents) groups.push_back(std::move(ranks));
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
      return std::pair(a.size(), a.front()) < std::pair(b.size(), b.front());
    });
    std::string others;
    for (std::size_t g = 1; g < groups.size(); ++g)
      others += fmt::format("{}{}", g == 1 ? "" : ", and others than ", names(groups[g]));
    return fmt::format(
        "{} give{} other values for the input {} than {}: all processes must give the same values",
        names(groups.front()), groups.front().size() == 1 ? "s" : "", notes.front()[i].name,
        others);
  }
  return "";
}

}  // namespace tessera::exec
