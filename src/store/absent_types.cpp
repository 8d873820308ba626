#include "store/absent_types.h"

#include <algorithm>
#include <random>

#include "base/check.h"
#include "tra/tuple_set.h"

namespace tessera::store {
namespace {

/// The numbers that make up the types at a key: extents and sparse dimensions, column by column.
void put_numbers(const std::vector<TileType>& types, std::vector<std::int64_t>& numbers) {
  for (const TileType& type : types) {
    numbers.insert(numbers.end(), type.shape.begin(), type.shape.end());
    numbers.push_back(type.sparse_dims);
  }
}

std::size_t numbers_in(const RelationType& type) {
  std::size_t count = 0;
  for (const Column& column : type.columns)
    count += static_cast<std::size_t>(column.type.shape.rank()) + 1;
  return count;
}

/// Keys, and the numbers at each of them.
struct Probes {
  bool all = true;  // of the keys that are absent
  std::vector<Key> keys = {};
  std::vector<std::int64_t> numbers = {};
};

constexpr std::int64_t most_numbers = std::int64_t{1} << 21;

bool can_list(const RelationType& type) {
  std::int64_t count = static_cast<std::int64_t>(std::max<std::size_t>(numbers_in(type), 1));
  for (const std::int64_t extent : type.frontier)
    if (__builtin_mul_overflow(count, extent, &count) || count > most_numbers) return false;
  return true;
}

Probes every_absent_key(const TupleSet<TileType>& set) {
  Probes probes;
  Key key(set.type.frontier.size(), 0);
  auto next = set.tuples.begin();
  for (bool more = count_below(set.type.frontier) > 0; more;
       more = advance(key, set.type.frontier)) {
    if (next != set.tuples.end() && next->key == key) {
      ++next;
      continue;
    }
    probes.keys.push_back(key);
    put_numbers(set.absent_types(key), probes.numbers);
  }
  return probes;
}

/// Keys at the corners, at random, and with components of tuples that are there, as their
/// neighbours are what may be unlike the rest.
Probes many_keys(const TupleSet<TileType>& set) {
  constexpr int tries = 30'000;
  std::mt19937_64 random(1);
  const auto below = [&](std::int64_t bound) {
    return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random);
  };
  Probes probes{.all = false};
  for (int i = 0; i < tries; ++i) {
    Key key = set.type.frontier;
    for (std::size_t c = 0; c < key.size(); ++c) {
      const std::int64_t kind = below(4);
      const auto tuples = static_cast<std::int64_t>(set.tuples.size());
      if (kind == 0)
        --key[c];
      else if (kind == 1 && tuples > 0)
        key[c] = set.tuples[static_cast<std::size_t>(below(tuples))].key[c];
      else
        key[c] = below(key[c]);
    }
    const auto found =
        std::lower_bound(set.tuples.begin(), set.tuples.end(), key,
                         [](const auto& tuple, const Key& wanted) { return tuple.key < wanted; });
    if (found != set.tuples.end() && found->key == key) continue;
    put_numbers(set.absent_types(key), probes.numbers);
    probes.keys.push_back(std::move(key));
  }
  return probes;
}

bool all_are(const Probes& probes, const TypesAt& expected) {
  std::vector<std::int64_t> numbers;
  for (const Key& key : probes.keys) {
    const std::size_t at = numbers.size();
    put_numbers(expected(key), numbers);
    if (numbers.size() > probes.numbers.size() ||
        !std::equal(numbers.begin() + at, numbers.end(), probes.numbers.begin() + at))
      return false;
  }
  return numbers.size() == probes.numbers.size();
}

std::int64_t combination(const KeyRule& rule, const Key& frontier, const Key& key) {
  std::int64_t at = 0;
  for (const auto& [component, distinct] : rule.parts)
    at = at * distinct +
         std::max<std::int64_t>(0, key[component] - (frontier[component] - distinct));
  return at;
}

/// The rule by which a number follows from these components, if it does.
std::optional<KeyRule> rule_by(const std::vector<int>& components, const Key& frontier,
                               const Probes& probes, std::size_t number, std::size_t numbers) {
  constexpr std::int64_t told_apart = 16;  // if not all keys are looked at
  constexpr std::int64_t unknown = -1;
  KeyRule rule;
  std::int64_t combinations = 1;
  for (const int component : components) {
    const std::int64_t distinct =
        probes.all ? frontier[component] : std::min(told_apart, frontier[component]);
    rule.parts.push_back({component, distinct});
    combinations *= distinct;
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(combinations), unknown);
  for (std::size_t i = 0; i < probes.keys.size(); ++i) {
    auto& value = values[static_cast<std::size_t>(combination(rule, frontier, probes.keys[i]))];
    const std::int64_t found = probes.numbers[i * numbers + number];
    if (value != unknown && value != found) return std::nullopt;
    value = found;
  }
  // Where nothing is absent any number will do: one that makes no run of its own.
  const auto known =
      std::find_if(values.begin(), values.end(), [](std::int64_t value) { return value >= 0; });
  std::int64_t last = known == values.end() ? 0 : *known;
  for (const std::int64_t value : values) {
    if (value != unknown) last = value;
    if (rule.runs.empty() || rule.runs.back().value != last) rule.runs.push_back({0, last});
    ++rule.runs.back().length;
  }
  return rule;
}

/// By as few components as can be: none, one, two, or all.
KeyRule find_rule(const RelationType& type, const Probes& probes, std::size_t number,
                  std::size_t numbers) {
  const int arity = type.arity();
  std::vector<std::vector<int>> ways{{}};
  for (int i = 0; i < arity; ++i) ways.push_back({i});
  for (int i = 0; i < arity; ++i)
    for (int j = i + 1; j < arity; ++j) ways.push_back({i, j});
  if (probes.all && arity > 2) {
    std::vector<int>& every = ways.emplace_back();
    for (int i = 0; i < arity; ++i) every.push_back(i);
  }
  for (const std::vector<int>& way : ways)
    if (auto rule = rule_by(way, type.frontier, probes, number, numbers)) return *rule;
  throw PlanError(fmt::format(
      "cannot store {}: the shapes of its absent tiles do not depend on at most two key "
      "components, and there are too many absent tiles to list; fill them in, or use larger tiles",
      to_string(type)));
}

AbsentTypes rules_of(const RelationType& type, const Probes& probes) {
  AbsentTypes absent;
  const std::size_t numbers = numbers_in(type);
  std::size_t number = 0;
  for (const Column& column : type.columns) {
    std::vector<KeyRule>& rules = absent.columns.emplace_back();
    for (int d = 0; d <= column.type.shape.rank(); ++d)
      rules.push_back(find_rule(type, probes, number++, numbers));
  }
  return absent;
}

/// A rule in the form in which a number is found at once.
struct Lookup {
  KeyRule rule;
  std::vector<std::int64_t> ends = {};  // of the runs

  explicit Lookup(const KeyRule& from) : rule(from) {
    std::int64_t end = 0;
    for (const KeyRule::Run& run : rule.runs) ends.push_back(end += run.length);
  }
  std::int64_t at(const Key& frontier, const Key& key) const {
    const auto run =
        std::upper_bound(ends.begin(), ends.end(), combination(rule, frontier, key)) - ends.begin();
    return rule.runs[static_cast<std::size_t>(run)].value;
  }
};

}  // namespace

Extents extents_of(const TupleSet<TileType>& tuples) {
  Extents extents{edges_of(tuples)};
  if (tuples.type.presence != Presence::sparse || !tuples.absent_types) return extents;
  const Probes probes = can_list(tuples.type) ? every_absent_key(tuples) : many_keys(tuples);
  if (extents.edges && all_are(probes, absent_types_of(tuples.type, *extents.edges)))
    return extents;
  if (!extents.edges && all_are(probes, absent_types_of(tuples.type))) return extents;
  extents.absent = rules_of(tuples.type, probes);
  // It is a tensor still if only the layouts differ.
  for (std::size_t i = 0; i < probes.keys.size() && extents.edges; ++i)
    if (tuples.absent_types(probes.keys[i])[0].shape !=
        absent_types_of(tuples.type, *extents.edges)(probes.keys[i])[0].shape)
      extents.edges.reset();
  return extents;
}

TypesAt absent_types_of(const RelationType& type, const AbsentTypes& absent) {
  std::vector<std::vector<Lookup>> columns;
  for (const std::vector<KeyRule>& rules : absent.columns)
    columns.emplace_back(rules.begin(), rules.end());
  return [type, columns = std::move(columns)](const Key& key) {
    std::vector<TileType> types;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      TileType& of = types.emplace_back(type.columns[c].type);
      for (int d = 0; d < of.shape.rank(); ++d)
        of.shape[d] = columns[c][static_cast<std::size_t>(d)].at(type.frontier, key);
      of.sparse_dims = static_cast<int>(columns[c].back().at(type.frontier, key));
    }
    return types;
  };
}

bool are_rules_of(const RelationType& type, const AbsentTypes& absent) {
  bool well = absent.columns.size() == type.columns.size();
  for (std::size_t c = 0; well && c < type.columns.size(); ++c) {
    const int rank = type.columns[c].type.shape.rank();
    well = std::cmp_equal(absent.columns[c].size(), rank + 1);
    for (int d = 0; well && d <= rank; ++d) {
      const KeyRule& rule = absent.columns[c][static_cast<std::size_t>(d)];
      std::int64_t combinations = 1, told = 0;
      for (const auto& [component, distinct] : rule.parts)
        well = well && component >= 0 && component < type.arity() && distinct >= 1 &&
               distinct <= type.frontier[component] &&
               !__builtin_mul_overflow(combinations, distinct, &combinations);
      for (const auto& [length, value] : rule.runs)
        well = well && length > 0 && value >= 0 && (d < rank || value <= rank) &&
               !__builtin_add_overflow(told, length, &told);
      well = well && told == combinations;
    }
  }
  return well;
}

}  // namespace tessera::store
